import { useState } from 'preact/hooks';
import { sectionPart } from '../../api/entries.ts';
import { overview } from '../../api/overview.ts';
import { readSections } from '../../api/sections.ts';
import { isReadOnly, readOnlyRefusal } from '../../api/settings.ts';
import { useResource } from '../../api/use-resource.ts';
import { attempt } from '../../features/attempt.ts';
import { isList, isObject, type Json, type JsonObject, objectsIn } from '../../model/json.ts';
import { Button } from '../../parts/button.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { Check } from '../../parts/field.tsx';
import { Loading } from '../../parts/loading.tsx';
import { shownError } from '../../parts/shown-error.ts';

/** Roles without introspection, from the section of the metadata. */
function disabledIn(options: Json | undefined): readonly string[] {
  const roles = isObject(options) ? options['disabled_for_roles'] : undefined;
  return isList(roles) ? roles.map(String) : [];
}

/** Hosts with trusted self-signed certificates, and roles without introspection. */
export function TlsAndIntrospection() {
  const { value, failure, isLoading, reload } = useResource(
    (signal) => readSections(['network', 'graphql_schema_introspection'], signal),
    `${overview.value?.version}`,
  );
  if (value === undefined)
    return isLoading || failure === undefined ? <Loading what="the settings" /> : <ErrorBox error={shownError(failure)} onRetry={reload} />;
  const network = value['network'];
  return (
    <>
      <Hosts hosts={isObject(network) ? objectsIn(network['tls_allowlist']) : []} />
      <Introspection disabled={disabledIn(value['graphql_schema_introspection'])} />
    </>
  );
}

function Hosts({ hosts }: { readonly hosts: readonly JsonObject[] }) {
  const [host, setHost] = useState('');
  const [port, setPort] = useState('');
  const addressOf = (entry: JsonObject): JsonObject => {
    const { host: name = '', suffix } = entry;
    return suffix === undefined || suffix === null ? { host: name } : { host: name, suffix };
  };
  const drop = (entry: JsonObject): void =>
    void attempt({
      title: `Remove ${String(entry['host'])} from the TLS allow-list`,
      steps: () => [{ type: 'drop_host_from_tls_allowlist', args: addressOf(entry) }],
      inverse: [{ type: 'add_host_to_tls_allowlist', args: entry }],
    });
  const add = async (): Promise<void> => {
    const entry: JsonObject = { host: host.trim(), ...(port.trim() === '' ? {} : { suffix: port.trim() }), permissions: ['self-signed'] };
    const done = await attempt({
      title: `Add ${host.trim()} to the TLS allow-list`,
      steps: () => [{ type: 'add_host_to_tls_allowlist', args: entry }],
      inverse: [{ type: 'drop_host_from_tls_allowlist', args: addressOf(entry) }],
    });
    if (done !== null) setHost('');
  };
  return (
    <section class="card stack">
      <header>
        <h2>TLS allow-list</h2>
      </header>
      <p class="muted">Hosts of webhooks and remote schemas whose self-signed certificates are accepted.</p>
      <ul class="stack-tight">
        {hosts.map((entry) => (
          <li key={`${String(entry['host'])} ${String(entry['suffix'])}`} class="row">
            <code class="grow">
              {String(entry['host'])}
              {entry['suffix'] === undefined || entry['suffix'] === null ? '' : `:${String(entry['suffix'])}`}
            </code>
            <Button small refusal={readOnlyRefusal} onClick={() => drop(entry)}>
              Remove
            </Button>
          </li>
        ))}
      </ul>
      <form
        class="row"
        onSubmit={(event) => {
          event.preventDefault();
          if (readOnlyRefusal === undefined && host.trim() !== '') void add();
        }}
      >
        <input
          class="input"
          aria-label="Host"
          placeholder="hooks.example.org"
          value={host}
          onInput={(event) => setHost(event.currentTarget.value)}
        />
        <input
          class="input"
          aria-label="Port"
          placeholder="any port"
          size={8}
          value={port}
          onInput={(event) => setPort(event.currentTarget.value)}
        />
        <Button type="submit" refusal={readOnlyRefusal ?? (host.trim() === '' ? 'Enter a host' : undefined)}>
          Add
        </Button>
      </form>
    </section>
  );
}

function Introspection({ disabled }: { readonly disabled: readonly string[] }) {
  const roles = [...new Set([...(overview.value?.roles ?? []), ...disabled])].sort();
  const toggle = (role: string, isDisabled: boolean): void => {
    const stepTo = (list: readonly string[]) => ({ type: 'set_graphql_schema_introspection_options', args: { disabled_for_roles: list } });
    void attempt({
      title: `${isDisabled ? 'Disable' : 'Enable'} introspection for ${role}`,
      parts: [sectionPart('graphql_schema_introspection')],
      // Roles that another administrator has added in the meantime stay.
      steps: (_, [now]) => {
        const others = disabledIn(now).filter((each) => each !== role);
        return [stepTo(isDisabled ? [...others, role] : others)];
      },
      inverse: ([was]) => [stepTo(disabledIn(was))],
    });
  };
  return (
    <section class="card stack">
      <header>
        <h2>Introspection disabled for</h2>
      </header>
      {roles.length === 0 && <p class="muted">No roles yet</p>}
      <div class="check-list">
        {roles.map((role) => (
          <Check key={role} label={role} checked={disabled.includes(role)} disabled={isReadOnly} onChange={(on) => toggle(role, on)} />
        ))}
      </div>
    </section>
  );
}
