import { useState } from 'preact/hooks';
import { makeChange } from '../../api/changes.ts';
import { memberPart } from '../../api/entries.ts';
import { readOnlyRefusal } from '../../api/settings.ts';
import { useDraft } from '../../browser/drafts.ts';
import { go, hrefOf, place, setQuery } from '../../browser/place.ts';
import { attempt } from '../../features/attempt.ts';
import { JsonDialog } from '../../features/json-dialog.tsx';
import { isObject, type JsonObject, objectsIn, printJson } from '../../model/json.ts';
import { Icon } from '../../parts/icon.tsx';
import { Menu } from '../../parts/menu.tsx';
import { tabPanel, Tabs } from '../../parts/tabs.tsx';
import { Call } from './call.tsx';
import type { DefinitionDraft } from './definition-draft.ts';
import { DefinitionForm } from './definition-form.tsx';
import { HandlerCode } from './handler-code.tsx';
import { Permissions, actionPermissionStep } from './permissions.tsx';
import { type ActionsMetadata, definitionOf, actionArgs, kindOf } from './read-actions.ts';
import { Transforms } from './transforms.tsx';
import type { TransformsDraft } from './transforms-draft.ts';

const TABS = [
  { id: 'definition', label: 'Definition' },
  { id: 'permissions', label: 'Permissions' },
  { id: 'transforms', label: 'Transforms' },
  { id: 'call', label: 'Call' },
  { id: 'code', label: 'Code' },
] as const;

/** One action. */
export function ActionPage({ all, action }: { readonly all: ActionsMetadata; readonly action: JsonObject }) {
  const name = String(action['name']);
  const tab = place.value.query.get('tab') ?? 'definition';
  const [definition, setDefinition] = useDraft<DefinitionDraft>(`action ${name}`);
  const [transforms, setTransforms] = useDraft<TransformsDraft>(`transforms ${name}`);
  /** The action as it was stored when its JSON was opened. */
  const [edited, setEdited] = useState<JsonObject | null>(null);
  const kind = kindOf(action);
  const problem = all.problems.get(name);
  return (
    <div class="page">
      <header class="crumbs">
        <a href={hrefOf(['actions'])}>Actions</a>
        <Icon name="right" />
        <h1>{name}</h1>
        <span class="badge">{kind === 'query' ? 'query' : 'mutation'}</span>
        {kind === 'asynchronous' && <span class="badge">asynchronous</span>}
        <span class="end row-tight">
          <Menu
            icon="more"
            name="More"
            items={[
              { label: 'Edit as JSON …', icon: 'edit', refusal: readOnlyRefusal, run: () => setEdited(action) },
              { label: 'Delete action …', icon: 'trash', danger: true, refusal: readOnlyRefusal, run: () => void removeAction(action) },
            ]}
          />
        </span>
      </header>
      {problem !== undefined && (
        <div class="banner banner-danger" role="alert">
          <Icon name="warn" />
          <span>{problem}</span>
        </div>
      )}
      <Tabs name="Action" tabs={TABS} chosen={tab} onChoose={(id) => setQuery({ tab: id })} />
      <div {...tabPanel(tab)} class="stack">
        {tab === 'permissions' ? (
          <Permissions action={action} />
        ) : tab === 'transforms' ? (
          <Transforms all={all} action={action} draft={transforms} onDraft={setTransforms} />
        ) : tab === 'call' ? (
          <Call all={all} action={action} />
        ) : tab === 'code' ? (
          <HandlerCode all={all} action={action} />
        ) : (
          <DefinitionForm all={all} action={action} draft={definition} onDraft={setDefinition} onSaved={() => undefined} />
        )}
      </div>
      {edited !== null && <ActionJson action={edited} onClose={() => setEdited(null)} />}
    </div>
  );
}

async function removeAction(action: JsonObject): Promise<void> {
  const name = String(action['name']);
  const done = await attempt({
    title: `Delete action ${name}${kindOf(action) === 'asynchronous' ? ' and its stored calls' : ''}`,
    review: true,
    parts: [memberPart('actions', name)],
    steps: () => [{ type: 'drop_action', args: { name } }],
    inverse: ([before = null]) =>
      isObject(before)
        ? [
            { type: 'create_action', args: actionArgs(before) },
            ...objectsIn(before['permissions']).map((each) => actionPermissionStep(name, each)),
          ]
        : [],
  });
  if (done !== null) go(['actions']);
}

/** @param props.action as it was stored when the dialog was opened */
function ActionJson({ action, onClose }: { readonly action: JsonObject; onClose(): void }) {
  const name = String(action['name']);
  return (
    <JsonDialog
      title={`Action ${name}`}
      text={printJson({ definition: definitionOf(action), comment: action['comment'] ?? null }, 2)}
      action="Save"
      onClose={onClose}
      onSubmit={async (json) => {
        if (!isObject(json)) throw new SyntaxError('expected a JSON object');
        const { definition: next = {}, comment } = json;
        const head = actionArgs({ name, definition: next, ...(comment === null || comment === undefined ? {} : { comment }) });
        const done = await makeChange({
          title: `Action ${name}`,
          parts: [memberPart('actions', name)],
          steps: () => [{ type: 'update_action', args: head }],
          inverse: ([before = null]) => (isObject(before) ? [{ type: 'update_action', args: actionArgs(before) }] : []),
          draft: { before: actionArgs(action), now: (_, [now = null]) => (isObject(now) ? actionArgs(now) : null), after: () => head },
        });
        if (done !== null) onClose();
      }}
    >
      <p class="muted">The definition as stored in the metadata.</p>
    </JsonDialog>
  );
}
