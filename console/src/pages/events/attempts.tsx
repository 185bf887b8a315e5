import type { Json, JsonObject } from '../../model/json.ts';
import { isObject, printJson } from '../../model/json.ts';

export function Printed({ name, json }: { readonly name: string; readonly json: Json }) {
  return (
    <pre class="code-block mono" tabIndex={0} role="region" aria-label={name}>
      {printJson(json, 2)}
    </pre>
  );
}

/** Delivery attempts of an event with their requests and responses. */
export function Attempts({ attempts }: { readonly attempts: readonly JsonObject[] }) {
  if (attempts.length === 0) return <p class="muted">No attempts yet</p>;
  return (
    <ul class="stack-tight">
      {attempts.map((attempt) => {
        const status = attempt['http_status'] ?? attempt['status'];
        const isSuccess = typeof status === 'number' && status >= 200 && status < 300;
        return (
          <li key={String(attempt['id'])}>
            <details>
              <summary>
                <span class={`badge ${isSuccess ? 'badge-ok' : 'badge-danger'}`}>
                  {status === null || status === undefined ? 'no response' : String(status)}
                </span>{' '}
                {new Date(utcTime(String(attempt['created_at']))).toLocaleString()}{' '}
                <span class="muted small">{messageOf(attempt['response'])}</span>
              </summary>
              <h4>Request</h4>
              <Printed name="Request" json={attempt['request'] ?? null} />
              <h4>Response</h4>
              <Printed name="Response" json={attempt['response'] ?? null} />
            </details>
          </li>
        );
      })}
    </ul>
  );
}

function utcTime(time: string): string {
  return /(?:Z|[+-]\d\d:?\d\d)$/.test(time) ? time : `${time}Z`;
}

function messageOf(response: Json | undefined): string {
  const data = isObject(response) ? response['data'] : undefined;
  const message = isObject(data) ? (data['message'] ?? data['body']) : undefined;
  return typeof message === 'string' ? message.slice(0, 120) : '';
}
