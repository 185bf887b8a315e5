import { useState } from 'preact/hooks';
import { config } from '../../api/config.ts';
import { memberPart } from '../../api/entries.ts';
import { readOperation } from '../../api/metadata.ts';
import { overview } from '../../api/overview.ts';
import { readOnlyRefusal } from '../../api/settings.ts';
import { useResource } from '../../api/use-resource.ts';
import { attempt } from '../../features/attempt.ts';
import { isObject, type JsonObject, objectsIn } from '../../model/json.ts';
import { type RemoteTypes, remoteTypes } from '../../model/schema-ticks.ts';
import { Button } from '../../parts/button.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Permission, remotePermissionStep } from './permission.tsx';
import { RemoteSchemaRelationships, relationshipsOf, remoteRelationshipStep } from './relationships.tsx';

/** Arguments of `add_remote_schema` and `update_remote_schema` for an entry of the metadata. */
export function remoteSchemaArgs({ name = '', definition = {}, comment }: JsonObject): JsonObject {
  return { name, definition, ...(comment === undefined ? {} : { comment }) };
}

/** A remote schema with its permissions and relationships. */
export function RemoteSchema({ remote, onEdit }: { readonly remote: JsonObject; onEdit(): void }) {
  const name = String(remote['name']);
  const { value, failure, isLoading } = useResource(
    async (signal) => remoteTypes(await readOperation('introspect_remote_schema', { name }, { signal })),
    `${name} ${overview.value?.version}`,
    { keeps: true },
  );
  const definition = isObject(remote['definition']) ? remote['definition'] : {};
  const address =
    definition['url_from_env'] === undefined ? String(definition['url'] ?? '') : `URL from ${String(definition['url_from_env'])}`;
  return (
    <section class="card stack">
      <header>
        <h2 class="grow">{name}</h2>
        {value !== undefined && <span class="badge badge-ok">{value.types.size} types</span>}
        {failure !== undefined && (
          <span class="badge badge-danger">
            <Icon name="warn" />
            unreachable
          </span>
        )}
        <Button
          small
          icon="reload"
          title="reload_remote_schema"
          refusal={readOnlyRefusal}
          onClick={() => void attempt({ title: `Reload ${name}`, steps: () => [{ type: 'reload_remote_schema', args: { name } }] })}
        >
          Reload
        </Button>
        <Button small icon="edit" refusal={readOnlyRefusal} onClick={onEdit}>
          Edit
        </Button>
        <Button small icon="trash" refusal={readOnlyRefusal} onClick={() => removeRemoteSchema(name)}>
          Remove …
        </Button>
      </header>
      {failure !== undefined && !isLoading && <p class="muted">{failure.message}</p>}
      <p class="muted break">{address}</p>
      {typeof remote['comment'] === 'string' && <p>{remote['comment']}</p>}
      <Permissions remote={remote} types={value} />
      <RemoteSchemaRelationships remote={name} types={value} relationships={relationshipsOf(remote)} />
    </section>
  );
}

function Permissions({ remote, types }: { readonly remote: JsonObject; readonly types: RemoteTypes | undefined }) {
  const [role, setRole] = useState<string | null>(null);
  const hasPermissions = config.value?.['is_remote_schema_permissions_enabled'] !== false;
  const permissions = objectsIn(remote['permissions']);
  return (
    <>
      <h3>Permissions</h3>
      {!hasPermissions && (
        <p class="muted">
          All roles can use the whole remote schema. Set <code class="break">SVC_GRAPHQL_ENABLE_REMOTE_SCHEMA_PERMISSIONS=true</code> to
          limit roles to their permissions.
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
          refusal={readOnlyRefusal ?? (hasPermissions ? undefined : 'Remote schema permissions are disabled')}
          onClick={() => setRole('')}
        >
          Add permission
        </Button>
      </div>
      {role !== null && (
        <Permission
          remote={String(remote['name'])}
          types={types}
          role={role}
          before={permissions.find((each) => each['role'] === role)}
          onClose={() => setRole(null)}
        />
      )}
    </>
  );
}

function removeRemoteSchema(name: string): void {
  void attempt({
    title: `Remove remote schema ${name}`,
    review: true,
    parts: [memberPart('remote_schemas', name)],
    steps: () => [{ type: 'remove_remote_schema', args: { name } }],
    inverse: ([was = null]) =>
      isObject(was)
        ? [
            { type: 'add_remote_schema', args: remoteSchemaArgs(was) },
            ...objectsIn(was['permissions']).map((each) => remotePermissionStep(name, each)),
            ...relationshipsOf(was).map((each) => remoteRelationshipStep('create', each)),
          ]
        : [],
  });
}
