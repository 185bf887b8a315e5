import { useSignalEffect } from '@preact/signals';
import { useState } from 'preact/hooks';
import {
  type AppliedChange,
  applyPending,
  type Conflict,
  discardPending,
  lastApplied,
  pending,
  sessionChanges,
  undo,
} from '../../api/changes.ts';
import { config } from '../../api/config.ts';
import { failureOf } from '../../api/failure.ts';
import { changesOf } from '../../api/operation-names.ts';
import { overview, refreshOverview } from '../../api/overview.ts';
import { type ChangePreview, previewChanges, type SchemaDifference } from '../../api/preview.ts';
import { isReadOnly, READ_ONLY_REASON } from '../../api/settings.ts';
import { useResource } from '../../api/use-resource.ts';
import { download } from '../../browser/clipboard.ts';
import { base } from '../../browser/place.ts';
import { type JsonObject, printJson } from '../../model/json.ts';
import { permissionChanges } from '../../model/permission-change.ts';
import { curlOf } from '../../model/request-code.ts';
import { describeStep, isDestructive, requestOf, type Step } from '../../model/steps.ts';
import { Button } from '../../parts/button.tsx';
import { CodeForms } from '../../parts/code-forms.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { Icon } from '../../parts/icon.tsx';
import { JsonDifference } from '../../parts/json-difference.tsx';
import { Loading } from '../../parts/loading.tsx';
import { MoreList } from '../../parts/more-list.tsx';
import { shownError } from '../../parts/shown-error.ts';
import { showToast } from '../../parts/toast.tsx';
import { PermissionChanges } from './permission-changes.tsx';

/** Review of the pending change, and the toast after a change. */
export function ChangeReview() {
  const [shown, setShown] = useState<AppliedChange | null>(null);
  useSignalEffect(() => {
    const applied = lastApplied.value;
    if (applied === null) return;
    lastApplied.value = null;
    const { title, undo: canUndo } = applied;
    showToast(`Applied: ${title}`, {
      actions: [
        ...(canUndo === undefined ? [] : [{ label: 'Undo', run: () => void undoChange(applied) }]),
        { label: 'Code', run: () => setShown(applied) },
      ],
    });
  });
  return (
    <>
      {pending.value !== null && <Review />}
      {shown !== null && (
        <Dialog title={shown.title} kind="wide" onClose={() => setShown(null)}>
          <Code steps={shown.steps} written={shown.written} />
        </Dialog>
      )}
    </>
  );
}

/** Undoes a change, and shows the result as a toast. */
export async function undoChange(applied: AppliedChange): Promise<void> {
  try {
    await undo(applied);
    showToast(`Undo: ${applied.title}`);
  } catch (error) {
    showToast(failureOf(error).message, { isError: true });
  }
}

function Review() {
  const [isBusy, setBusy] = useState(false);
  const current = pending.value;
  const effects = useEffects(current?.steps ?? []);
  if (current === null) return null;
  const { change, steps, failure, conflict, read } = current;
  const apply = async (): Promise<void> => {
    setBusy(true);
    await applyPending();
    setBusy(false);
  };
  const refusal = isReadOnly ? READ_ONLY_REASON : isBusy ? 'Applying …' : undefined;
  const destroys = steps.some(isDestructive);
  // Only the button, no shortcut, sends a draft that replaces the change of another administrator.
  const overwrites = conflict?.after !== undefined;
  return (
    <Dialog
      title={change.title}
      kind="drawer"
      onClose={discardPending}
      {...(overwrites ? {} : { onSubmit: () => void apply() })}
      footer={
        <>
          <Button kind={destroys || overwrites ? 'danger' : 'primary'} refusal={refusal} onClick={() => void apply()}>
            {conflict === undefined ? 'Apply' : overwrites ? 'Overwrite their change' : 'Apply on top'}{' '}
            {steps.length > 1 ? `${steps.length} operations` : ''}
          </Button>
          <Button
            onClick={() => {
              if (overwrites) {
                change.draft?.discard?.();
                void refreshOverview();
              }
              discardPending();
            }}
          >
            {!overwrites ? 'Discard' : change.draft?.discard === undefined ? 'Back to draft' : 'Discard my draft'}
          </Button>
          <span class="muted small end">
            {change.draft?.version !== undefined && `draft from v${change.draft.version}, `}current version v{read.version}
          </span>
        </>
      }
    >
      {failure !== undefined && conflict === undefined && <ErrorBox error={shownError(failure)} />}
      <Dangers preview={effects.value} />
      <PermissionChanges changes={permissionChanges(steps, change.tables ?? [], read.entries)} />
      {conflict !== undefined && <ConflictView conflict={conflict} canDiscard={change.draft?.discard !== undefined} />}
      <Steps steps={steps} />
      <Effects effects={effects} />
      <Code steps={steps} version={read.version} written={change.written} />
    </Dialog>
  );
}

/** Shows the change of the other administrator, and the result of this change on top of it. */
function ConflictView({ conflict: { before, now, after }, canDiscard }: { readonly conflict: Conflict; readonly canDiscard: boolean }) {
  return (
    <section class="stack-tight" aria-label="Conflict">
      <div class="banner banner-warn" role="alert">
        <Icon name="warn" />
        <p>
          Another administrator has changed the same objects in the meantime.{' '}
          {after === undefined
            ? 'The operations below apply your change on top of theirs.'
            : `Your draft would undo their change. ${canDiscard ? 'Discard' : 'Close'} it and start again from their change, or overwrite their change.`}
        </p>
      </div>
      <h3>Their change</h3>
      <JsonDifference name="Their change" before={before} after={now} />
      {after !== undefined && (
        <>
          <h3>Your draft</h3>
          <JsonDifference name="Your draft" before={now} after={after} />
        </>
      )}
    </section>
  );
}

/** Lines and operations shown at first. */
const FIRST_LINES = 12;
/** Maximum number of steps that the service previews. */
const MAX_PREVIEWED = 1000;

/** The operations, those that delete something first. */
function Steps({ steps }: { readonly steps: readonly Step[] }) {
  const kinds = overview.value?.sources.map(({ kind }) => kind) ?? [];
  const sorted = steps.toSorted((a, b) => Number(isDestructive(b)) - Number(isDestructive(a)));
  return (
    <ul class="step-list">
      <MoreList
        items={sorted}
        first={FIRST_LINES}
        what="operations"
        item={(step, index) => (
          <li key={index} class={`row-tight${isDestructive(step) ? ' is-drop' : ''}`}>
            <Icon name={isDestructive(step) ? 'trash' : 'check'} />
            <span>{describeStep(step, kinds)}</span>
          </li>
        )}
      />
    </ul>
  );
}

/** Reads the effects of the change on the metadata and the role schemas, previewed by the service. */
function useEffects(steps: readonly Step[]) {
  const isPreviewed = steps.length <= MAX_PREVIEWED && steps.every(({ type }) => changesOf(type) === 'metadata');
  const read = useResource(
    async (signal) => (isPreviewed && steps.length > 0 ? previewChanges(steps, { signal }) : undefined),
    JSON.stringify(steps),
  );
  return { ...read, isPreviewed };
}

/** Objects and queries that the change breaks, above everything else in the review. */
function Dangers({ preview }: { readonly preview: ChangePreview | undefined }) {
  if (preview === undefined) return null;
  return (
    <>
      {preview.inconsistent.length > 0 && (
        <div class="banner banner-danger" role="alert">
          <Icon name="warn" />
          <div>
            <p>
              <strong>Metadata becomes inconsistent</strong>
            </p>
            <ul class="stack-tight small">
              <MoreList
                items={preview.inconsistent}
                first={FIRST_LINES}
                what="objects"
                item={({ name, reason }) => (
                  <li key={name + reason}>
                    <strong>{name}</strong> {reason}
                  </li>
                )}
              />
            </ul>
          </div>
        </div>
      )}
      {preview.broken.length > 0 && <BrokenQueries preview={preview} />}
    </>
  );
}

function Effects({ effects: { value, failure, isLoading, isPreviewed } }: { readonly effects: ReturnType<typeof useEffects> }) {
  if (!isPreviewed) return <p class="muted small">The effect on the role schemas is only known after the change.</p>;
  if (failure !== undefined) return <ErrorBox error={shownError(failure)} />;
  if (value === undefined) return isLoading ? <Loading what="the preview" /> : null;
  return (
    <section class="stack-tight" aria-label="Effects of the change">
      <p class="row">
        {value.inconsistent.length === 0 && (
          <span class="badge badge-ok">
            <Icon name="check" />
            {value.isConsistent ? 'Metadata stays consistent' : 'No further object becomes inconsistent'}
          </span>
        )}
        {value.roles.length === 0 && <span class="muted small">No changes to role schemas.</span>}
      </p>
      {value.roles.map((each) => (
        <SchemaChanges key={each.role} difference={each} isOpen={value.roles.length < 3} />
      ))}
    </section>
  );
}

function BrokenQueries({ preview: { broken, brokenCount } }: { readonly preview: ChangePreview }) {
  return (
    <div class="banner banner-warn" role="alert">
      <Icon name="warn" />
      <div>
        <p>
          <strong>Breaks {brokenCount === 1 ? '1 stored query' : `${brokenCount} stored queries`}</strong>
        </p>
        <ul class="stack-tight small">
          <MoreList
            items={broken}
            first={FIRST_LINES}
            what="queries"
            item={({ collection, name, role, problem, endpoints }) => (
              <li key={`${collection} ${name} ${role}`}>
                <strong>
                  {name} of {collection}
                </strong>{' '}
                for {role}
                {endpoints.length > 0 && ` (REST endpoint ${endpoints.join(', ')})`}: {problem}
              </li>
            )}
          />
        </ul>
      </div>
    </div>
  );
}

/** Fields and types that the schema of a role gains and loses. */
function SchemaChanges({
  difference: { role, added, removed, changed },
  isOpen,
}: {
  readonly difference: SchemaDifference;
  readonly isOpen: boolean;
}) {
  const lines = [
    ...removed.map((line) => ['−', line] as const),
    ...added.map((line) => ['+', line] as const),
    ...changed.map((line) => ['~', line] as const),
  ];
  return (
    <details open={isOpen}>
      <summary>
        Schema of <strong>{role}</strong>{' '}
        <span class="muted small number">
          +{added.length} −{removed.length} ~{changed.length}
        </span>
      </summary>
      <section class="diff" tabIndex={0} aria-label={`Schema of ${role}`}>
        <MoreList
          items={lines}
          first={FIRST_LINES}
          what="lines"
          item={([sign, line]) => (
            <div key={sign + line} class={sign === '+' ? 'plus' : sign === '−' ? 'minus' : ''}>
              {sign} {line}
            </div>
          )}
        />
      </section>
    </details>
  );
}

/** The change as code, for a terminal or version control. */
export function Code({
  steps,
  version,
  written,
}: {
  readonly steps: readonly Step[];
  readonly version?: number;
  readonly written?: JsonObject | undefined;
}) {
  const [form, setForm] = useState<'json' | 'curl'>('json');
  const body = requestOf(steps, version, written);
  const secret = config.value?.['is_admin_secret_set'] !== false;
  const text = form === 'json' ? printJson(body, 2) : curlOf(`${base}v1/metadata`, body, { hasSecret: secret });
  return (
    <div class="stack-tight">
      <CodeForms
        name="Code format"
        options={[
          ['json', 'JSON'],
          ['curl', 'curl'],
        ]}
        chosen={form}
        text={text}
        onChoose={setForm}
      >
        <Button small icon="download" onClick={() => download('change.json', `${printJson(requestOf(steps, undefined, written), 2)}\n`)}>
          Download JSON
        </Button>
      </CodeForms>
      <pre class="code-block" tabIndex={0}>
        {text}
      </pre>
    </div>
  );
}

/** All changes of this session, also as one file. */
export function SessionChanges({ onClose }: { onClose(): void }) {
  const changes = sessionChanges.value;
  const steps = changes.flatMap((change) => change.steps);
  return (
    <Dialog title="Changes in this session" kind="drawer" onClose={onClose}>
      <ul class="stack">
        {changes.toReversed().map((change) => (
          <li key={change.at.getTime()} class="row">
            <span class="muted number">{change.at.toLocaleTimeString()}</span>
            <span class="grow">{change.title}</span>
            <span class="muted">v{change.version}</span>
            {change.undo !== undefined && (
              <Button small icon="undo" onClick={() => void undoChange(change)}>
                Undo
              </Button>
            )}
          </li>
        ))}
      </ul>
      <h3>All changes as code</h3>
      <Code steps={steps} />
    </Dialog>
  );
}
