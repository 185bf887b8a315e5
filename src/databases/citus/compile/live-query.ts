/**
 * One statement for many cohorts, with relations for each of them, because relations of distributed tables cannot read values from rows.
 */
import type { CompilerOptions, LiveQuery } from '../../../backend/backend.ts';
import { type Dialect, identifier, join, print, type Sql, sql } from '../../../sql/fragment.ts';
import type { SelectRoot } from '../../../ir/select.ts';
import { liveQueryOf, streamOf } from '../../shared/live-query.ts';
import { dialect } from '../../postgresql/compile/dialect.ts';
import { checkOfValues } from '../../postgresql/compile/live-query.ts';
import { isTimeless } from '../../postgresql/compile/timeless.ts';
import { COPY, relationList } from './context.ts';
import { createStatementDraft } from './draft.ts';
import { rootsSql } from './roots.ts';
import { streamSql } from './stream.ts';

/** Relations and a select that differ between cohorts only in the numbers of aliases and parameters. */
interface Template {
  readonly relations: string;
  readonly select: string;
}

/** Parameters are marked, like aliases, by a character that no text of the database contains. */
const MARKED: Dialect = { ...dialect, parameterMarker: (index) => `${COPY}${index};` };
const MARK = new RegExp(`${COPY}(?:(\\d+);)?`, 'g');

export function compileLive(options: CompilerOptions, roots: readonly SelectRoot[]): LiveQuery {
  const draft = createStatementDraft(options, true);
  const stream = streamOf(roots);
  const select = stream === null ? rootsSql(draft, roots) : streamSql(draft, stream.query, stream.cursor);
  const alias = draft.context.alias();
  const columns = [...roots.map((_, i) => identifier(`r${i + 1}`)), ...(stream === null ? [] : [identifier('cursor')])];
  const printed = print({ kind: 'sequence', items: [relationList(draft), SPLIT, select] }, MARKED);
  const [relations = '', body = ''] = printed.text.split(SPLIT_TEXT);
  const marked = (node: Sql): string => print(node, MARKED).text;
  const cells = join(
    columns.map((column) => sql`${alias}.${column}`),
    sql`, `,
  );
  const from = marked(sql`${alias} (${join(columns, sql`, `)})`);
  const template: Template = { relations, select: `${marked(cells)}, null from (${body}) as ${from}` };
  const { parameters } = printed;
  const { context } = draft;
  return liveQueryOf(
    {
      text: written([template], parameters.length),
      parameters,
      columns: roots.length,
      isStream: stream !== null,
      repeatable: !context.volatile,
      reportsTime: false,
      dependsOn: context.dependsOn ?? 'rows on other servers, whose changes the coordinator does not see',
      batch: (cohorts) => ({
        text: written(
          cohorts.map(() => template),
          parameters.length,
        ),
        values: cohorts.flat(),
      }),
      check: (values) => checkOfValues(parameters, values),
    },
    isTimeless,
  );
}

const SPLIT_TEXT = `${COPY}${COPY}`;
const SPLIT: Sql = { kind: 'template', texts: [SPLIT_TEXT], values: [] };

function written(templates: readonly Template[], width: number): string {
  const relations: string[] = [];
  const selects: string[] = [];
  templates.forEach((template, cohort) => {
    const numbered = (text: string): string =>
      text.replace(MARK, (_mark, index: string | undefined) => (index === undefined ? `_${cohort}` : `$${cohort * width + Number(index)}`));
    if (template.relations !== '') relations.push(numbered(template.relations));
    selects.push(`select ${cohort}, ${numbered(template.select)}`);
  });
  const list = relations.length === 0 ? '' : `with ${relations.join(', ')} `;
  return `${list}${selects.join(' union all ')}`;
}
