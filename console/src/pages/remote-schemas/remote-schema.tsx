import { useState } from 'preact/hooks';
import { config } from '../../api/config.ts';
import { memberPart } from '../../api/entries.ts';
import { ask } from '../../api/metadata.ts';
import { overview } from '../../api/overview.ts';
import { objectsIn } from '../../api/sections.ts';
import { isReadOnly, READ_ONLY_REASON } from '../../api/settings.ts';
import { useResource } from '../../api/use-resource.ts';
import { attempt } from '../../features/attempt.ts';
import { isObject, type JsonObject } from '../../model/json.ts';
import { remoteTypes } from '../../model/schema-ticks.ts';
import { Button } from '../../parts/button.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Permission, permissionStep } from './permission.tsx';
import { Relationships, relationshipsOf, relationshipStep } from './relationships.tsx';

/** What `add_remote_schema` and `update_remote_schema` take of an entry. */
export function headOf({ name = '', definition = {}, comment }: JsonObject): JsonObject {
  return { name, definition, ...(comment === undefined ? {} : { comment }) };
}

/** One server: how it is reached, what roles see of it, and which relationships begin at its types. */
export function RemoteSchema({ remote, onEdit }: { readonly remote: JsonObject; onEdit(): void }) {
  const name = String(remote['name']);
  const [role, setRole] = useState<string | null>(null);
  const refusal = isReadOnly ? READ_ONLY_REASON : undefined;
  const hasPermissions = config.value?.['is_remote_schema_permissions_enabled'] !== false;
  const { value, failure, isLoading } = useResource(
    async (signal) => remoteTypes(await ask('introspect_remote_schema', { name }, { signal })),
    `${name} ${overview.value?.version}`,
    { keeps: true },
  );
  const permissions = objectsIn(remote['permissions']);
  const relationships = relationshipsOf(remote);
  const definition = isObject(remote['definition']) ? remote['definition'] : {};
  const address =
    definition['url_from_env'] === undefined ? String(definition['url'] ?? '') : `the URL in ${String(definition['url_from_env'])}`;
  const remove = (): void =>
    void attempt({
      title: `Remove the remote schema ${name}`,
      review: true,
      parts: [memberPart('remote_schemas', name)],
      steps: () => [{ type: 'remove_remote_schema', args: { name } }],
      inverse: ([was = null]) =>
        isObject(was)
          ? [
              { type: 'add_remote_schema', args: headOf(was) },
              ...objectsIn(was['permissions']).map((each) => permissionStep(name, each)),
              ...relationshipsOf(was).map((each) => relationshipStep('create', each)),
            ]
          : [],
    });
  return (
    <section class="card stack">
      <header>
        <h2 class="grow">{name}</h2>
        {value !== undefined && <span class="badge badge-ok">{value.types.size} types</span>}
        {failure !== undefined && (
          <span class="badge badge-danger">
            <Icon name="warn" />
            not there
          </span>
        )}
        <Button
          small
          icon="reload"
          title="reload_remote_schema"
          refusal={refusal}
          onClick={() => void attempt({ title: `Reload ${name}`, steps: () => [{ type: 'reload_remote_schema', args: { name } }] })}
        >
          Reload
        </Button>
        <Button small icon="edit" refusal={refusal} onClick={onEdit}>
          Edit
        </Button>
        <Button small icon="trash" refusal={refusal} onClick={remove}>
          Remove …
        </Button>
      </header>
      {failure !== undefined && !isLoading && <p class="muted">{failure.message}</p>}
      <p class="muted break">{address}</p>
      {typeof remote['comment'] === 'string' && <p>{remote['comment']}</p>}
      <h3>Permissions</h3>
      {!hasPermissions && (
        <p class="muted">
          Every role sees all of it. With <code class="break">SVC_GRAPHQL_ENABLE_REMOTE_SCHEMA_PERMISSIONS=true</code> a role sees what it
          is permitted, and nothing else.
        </p>
      )}
      <div class="row">
        {permissions.map((each) => (
          <Button key={String(each['role'])} small onClick={() => setRole(String(each['role']))}>
            {String(each['role'])}
          </Button>
        ))}
        <Button
          small
          icon="plus"
          refusal={refusal ?? (hasPermissions ? undefined : 'Permissions of remote schemas are switched off')}
          onClick={() => setRole('')}
        >
          Permit a role
        </Button>
      </div>
      {role !== null && (
        <Permission
          remote={name}
          types={value}
          role={role}
          before={permissions.find((each) => each['role'] === role)}
          onClose={() => setRole(null)}
        />
      )}
      <Relationships remote={name} types={value} relationships={relationships} />
    </section>
  );
}
