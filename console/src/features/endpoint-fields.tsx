import { Check, Field } from '../parts/field.tsx';

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

export interface Endpoint {
  readonly url: string;
  readonly methods: readonly string[];
}

/** Names what an endpoint lacks; undefined if it is complete. */
export function endpointRefusal({ url, methods }: Endpoint): string | undefined {
  return url === '' || methods.length === 0 ? 'Enter a URL and select a method' : undefined;
}

/** URL and methods of a REST endpoint. */
export function EndpointFields({
  endpoint: { url, methods },
  onChange,
}: {
  readonly endpoint: Endpoint;
  onChange(endpoint: Endpoint): void;
}) {
  return (
    <>
      <Field label="URL" hint="Path after /api/rest/. A segment such as :id sets the variable $id.">
        {(id) => (
          <input
            id={id}
            class="input mono"
            placeholder="orders/:id"
            value={url}
            spellcheck={false}
            onInput={(event) => onChange({ url: event.currentTarget.value, methods })}
          />
        )}
      </Field>
      <fieldset class="plain-fieldset">
        <legend class="label">Methods</legend>
        <div class="row">
          {METHODS.map((method) => (
            <Check
              key={method}
              label={method}
              checked={methods.includes(method)}
              onChange={(on) => onChange({ url, methods: on ? [...methods, method] : methods.filter((each) => each !== method) })}
            />
          ))}
        </div>
      </fieldset>
    </>
  );
}
