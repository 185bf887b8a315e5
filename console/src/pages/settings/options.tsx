import { useState } from 'preact/hooks';
import { sendAsAdmin } from '../../api/http.ts';
import { useResource } from '../../api/use-resource.ts';
import { copyText } from '../../browser/clipboard.ts';
import { isObject, objectsIn } from '../../model/json.ts';
import { shellQuoted } from '../../model/request-code.ts';
import { Button } from '../../parts/button.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { Check, Search } from '../../parts/field.tsx';
import { ListTable } from '../../parts/list-table.tsx';
import { Loading } from '../../parts/loading.tsx';
import { shownError } from '../../parts/shown-error.ts';
import { showToast } from '../../parts/toast.tsx';

/** Options of the running service, read-only. */
export function Options() {
  const [filter, setFilter] = useState('');
  const [isChangedOnly, setChangedOnly] = useState(false);
  const { value, failure, isLoading, reload } = useResource(async (signal) => {
    const json = await sendAsAdmin('v1alpha1/config?options=true', { method: 'GET', signal, retries: 2 });
    return isObject(json) ? objectsIn(json['options']) : [];
  }, 'options');
  const shown = (value ?? []).filter(
    (option) =>
      (!isChangedOnly || option['is_default'] === false) &&
      `${String(option['flag'])} ${String(option['variable'])} ${String(option['help'])}`.toLowerCase().includes(filter.toLowerCase()),
  );
  const copy = async (): Promise<void> => {
    const lines = shown
      .filter(({ variable }) => typeof variable === 'string')
      .map(({ variable, value: text }) => `${String(variable)}=${shellQuoted(String(text))}`);
    await copyText(`${lines.join('\n')}\n`);
    showToast(`Copied ${lines.length} variables. Secrets are replaced by ***.`);
  };
  return (
    <>
      {failure !== undefined && <ErrorBox error={shownError(failure)} onRetry={reload} />}
      {value === undefined && isLoading && <Loading what="the options" />}
      {value !== undefined && (
        <>
          <div class="row">
            <Search name="Filter options" value={filter} onInput={setFilter} />
            <Check label="Changed only" checked={isChangedOnly} onChange={setChangedOnly} />
            <Button icon="copy" onClick={() => void copy()}>
              Copy as environment variables
            </Button>
          </div>
          <ListTable name="Options of the service" columns={['Option', 'Value', 'Description']} isCard class="options-table">
            {shown.map((option) => (
              <tr key={String(option['flag'])}>
                <td>
                  <code>--{String(option['flag'])}</code>
                  <p class="muted small mono">{option['variable'] === null ? '' : String(option['variable'])}</p>
                </td>
                <td>
                  <code>{String(option['value']) === '' ? '–' : String(option['value'])}</code>{' '}
                  {option['is_default'] === false && <span class="badge badge-accent">changed</span>}
                </td>
                <td class="small">{String(option['help'])}</td>
              </tr>
            ))}
          </ListTable>
        </>
      )}
    </>
  );
}
