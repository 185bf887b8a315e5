import { useState } from 'preact/hooks';
import { isReadOnly, readOnlyRefusal } from '../../api/settings.ts';
import type { SchemaDocument } from '../../model/schema-document.ts';
import {
  definitionNamed,
  type InputState,
  inputState,
  isTicked,
  type RemoteInput,
  type RemoteMember,
  type RemoteType,
  type RemoteTypes,
  shownTypes,
  tickedAll,
  withInput,
} from '../../model/schema-ticks.ts';
import { Button } from '../../parts/button.tsx';
import { Check, Search } from '../../parts/field.tsx';

interface TicksProps {
  readonly remote: RemoteTypes;
  readonly document: SchemaDocument;
  onChange(document: SchemaDocument): void;
}

const MAX_MEMBERS = 200;
const WORDS = { type: 'fields', interface: 'fields', input: 'fields', enum: 'values', union: 'types', scalar: '', schema: '' } as const;

/** Checkboxes for the fields of a remote schema that a role can see: root types first, then the types that the selected fields need. */
export function PermissionTicks({ remote, document, onChange }: TicksProps) {
  const [filter, setFilter] = useState('');
  const [opened, setOpened] = useState<ReadonlySet<string>>(() => new Set(remote.roots.slice(0, 1).map(({ type }) => type)));
  const query = filter.toLowerCase();
  const shown = shownTypes(document, remote).filter(({ keyword }) => keyword !== 'scalar');
  return (
    <div class="stack-tight">
      <Search name="Filter fields" value={filter} onInput={setFilter} />
      <div class="ticks" role="group" aria-label="Fields of the role">
        {shown.map((type) => {
          const members = type.members.filter(({ name }) => `${type.name}.${name}`.toLowerCase().includes(query));
          if (query !== '' && members.length === 0) return null;
          const seen = definitionNamed(document, type.name)?.members.length ?? 0;
          return (
            <details
              key={type.name}
              open={query !== '' || opened.has(type.name)}
              onToggle={(event) => {
                if (query !== '') return;
                const next = new Set(opened);
                if (event.currentTarget.open) next.add(type.name);
                else next.delete(type.name);
                if (next.size !== opened.size) setOpened(next);
              }}
            >
              <summary>
                <strong>{type.name}</strong> <span class="muted small">{type.keyword}</span>{' '}
                <span class="muted small number">
                  {seen} of {type.members.length} {WORDS[type.keyword]}
                </span>
              </summary>
              {(query !== '' || opened.has(type.name)) && (
                <Members type={type} members={members} remote={remote} document={document} onChange={onChange} />
              )}
            </details>
          );
        })}
      </div>
    </div>
  );
}

function Members({
  type,
  members,
  remote,
  document,
  onChange,
}: TicksProps & { readonly type: RemoteType; readonly members: readonly RemoteMember[] }) {
  const names = members.map(({ name }) => name);
  const select = (which: readonly string[], on: boolean): void => onChange(tickedAll(document, remote, type.name, which, on));
  return (
    <div class="tick-members">
      {!isReadOnly && members.length > 1 && (
        <div class="row">
          <Button small kind="quiet" name={`Select all of ${type.name}`} onClick={() => select(names, true)}>
            All
          </Button>
          <Button small kind="quiet" name={`Select none of ${type.name}`} onClick={() => select(names, false)}>
            None
          </Button>
        </div>
      )}
      {members.slice(0, MAX_MEMBERS).map((member) => {
        const on = isTicked(document, type.name, member.name);
        return (
          <div key={member.name}>
            <Check
              label={
                <>
                  {member.name} {member.type !== '' && <span class="muted mono small">{member.type}</span>}
                </>
              }
              {...(member.description === '' ? {} : { title: member.description })}
              checked={on}
              disabled={isReadOnly}
              onChange={(next) => select([member.name], next)}
            />
            {on && type.keyword === 'input' && (
              <Input
                input={member}
                isPresetOnly
                label={`${type.name}.${member.name}`}
                state={inputState(document, type.name, member.name)}
                onChange={(state) => onChange(withInput(document, remote, { type: type.name, member: member.name }, state))}
              />
            )}
            {on &&
              member.arguments.map((argument) => (
                <Input
                  key={argument.name}
                  input={argument}
                  label={`${member.name}(${argument.name})`}
                  state={inputState(document, type.name, member.name, argument.name)}
                  onChange={(state) =>
                    onChange(withInput(document, remote, { type: type.name, member: member.name, argument: argument.name }, state))
                  }
                />
              ))}
          </div>
        );
      })}
      {members.length > MAX_MEMBERS && <p class="muted small">And {members.length - MAX_MEMBERS} more. Use the filter to see them.</p>}
    </div>
  );
}

/** An argument or input field: passed by the client, or preset. */
function Input({
  input,
  label,
  state,
  isPresetOnly = false,
  onChange,
}: {
  readonly input: RemoteInput;
  readonly label: string;
  readonly state: InputState;
  readonly isPresetOnly?: boolean;
  onChange(state: InputState): void;
}) {
  const isRequired = input.type.endsWith('!') && input.default === undefined;
  return (
    <div class="tick-input row-tight">
      {!isPresetOnly && (
        <Check
          label={
            <>
              {input.name} <span class="muted mono small">{input.type}</span>
            </>
          }
          checked={state.isThere}
          disabled={isReadOnly || (isRequired && state.isThere)}
          {...(isRequired ? { title: 'Required by the server: passed by the client or preset.' } : {})}
          onChange={(on) => onChange({ isThere: on, preset: undefined })}
        />
      )}
      {state.isThere &&
        (state.preset === undefined ? (
          <Button
            small
            kind="quiet"
            name={`Add preset for ${label}`}
            refusal={readOnlyRefusal}
            onClick={() => onChange({ isThere: true, preset: 'x-svc-user-id' })}
          >
            Preset
          </Button>
        ) : (
          <span class="row-tight">
            <span class="muted small nowrap">preset</span>
            <input
              class="input input-small"
              aria-label={`Preset for ${label}`}
              value={state.preset}
              spellcheck={false}
              readOnly={isReadOnly}
              onInput={(event) => onChange({ isThere: true, preset: event.currentTarget.value })}
            />
            <Button
              small
              kind="quiet"
              icon="cross"
              name={`Remove preset for ${label}`}
              refusal={readOnlyRefusal}
              onClick={() => onChange({ isThere: true, preset: undefined })}
            />
          </span>
        ))}
    </div>
  );
}
