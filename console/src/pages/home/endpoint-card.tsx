import { hasSecret } from '../../api/session.ts';
import { readTableInfo } from '../../api/table-info.ts';
import { useResource } from '../../api/use-resource.ts';
import { copyText } from '../../browser/clipboard.ts';
import { base, hrefOf } from '../../browser/place.ts';
import { formatDocument } from '../../model/graphql-document.ts';
import { allTables, type Overview, type TableOverview, tableId } from '../../model/overview.ts';
import { curlOf } from '../../model/request-code.ts';
import { Button } from '../../parts/button.tsx';
import { showToast } from '../../parts/toast.tsx';
import { Card } from './card.tsx';

/** Maximum number of fields of the first query. */
const MAX_FIELDS = 5;

/** Address of the API, and a first query. */
export function EndpointCard({ data }: { readonly data: Overview }) {
  const endpoint = `${base}v1/graphql`;
  const table = allTables(data).find(({ problem }) => problem === undefined);
  const { value: query } = useResource(
    (signal) => (table === undefined ? Promise.resolve(undefined) : firstQuery(table, signal)),
    table === undefined ? '' : `${data.version} ${table.source} ${tableId(table)}`,
  );
  const copy = (text: string): void => void copyText(text).then(() => showToast('Copied'));
  return (
    <Card icon="explorer" title="GraphQL endpoint">
      <p class="row-tight">
        <code class="grow break">{endpoint}</code>
        <Button small icon="copy" name="Copy the endpoint" onClick={() => copy(endpoint)} />
      </p>
      {query !== undefined && (
        <>
          <pre class="code-block mono small" tabIndex={0}>
            {query}
          </pre>
          <p class="row-tight">
            <a class="button button-small" href={hrefOf(['explorer'], { query })}>
              Open in the Explorer
            </a>
            <Button small icon="copy" onClick={() => copy(curlOf(endpoint, { query }, { hasSecret: hasSecret.value }))}>
              Copy as curl
            </Button>
          </p>
        </>
      )}
    </Card>
  );
}

/** Returns a query for rows of a table; undefined if the table is not in the API. @throws Failure */
async function firstQuery(table: TableOverview, signal: AbortSignal): Promise<string | undefined> {
  const { names, columnNames } = await readTableInfo(table, signal);
  if (names === undefined) return undefined;
  const fields = [...columnNames.values()].slice(0, MAX_FIELDS);
  const rows = `${names.select}(limit: 5) { ${fields.length === 0 ? '__typename' : fields.join(' ')} }`;
  return formatDocument(`query FirstRows { ${names.namespace === undefined ? rows : `${names.namespace} { ${rows} }`} }`);
}
