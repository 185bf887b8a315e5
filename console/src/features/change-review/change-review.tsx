import { useSignalEffect } from '@preact/signals';
import { useState } from 'preact/hooks';
import {
  type AppliedChange,
  applyPending,
  type Conflict,
  giveUpPending,
  lastApplied,
  pending,
  sessionChanges,
  undo,
} from '../../api/changes.ts';
import { config } from '../../api/config.ts';
import { failureOf } from '../../api/failure.ts';
import { changesOf } from '../../api/metadata.ts';
import { overview, refreshOverview } from '../../api/overview.ts';
import { previewChanges } from '../../api/preview.ts';
import { isReadOnly, READ_ONLY_REASON } from '../../api/settings.ts';
import { useResource } from '../../api/use-resource.ts';
import { download } from '../../browser/clipboard.ts';
import { base } from '../../browser/place.ts';
import { type Json, printJson } from '../../model/json.ts';
import { permissionChanges } from '../../model/permission-change.ts';
import { curlOf } from '../../model/request-code.ts';
import { bulkOf, describeStep, isDestructive, type Step } from '../../model/steps.ts';
import { Button } from '../../parts/button.tsx';
import { CodeForms } from '../../parts/code-forms.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { Icon } from '../../parts/icon.tsx';
import { JsonDifference } from '../../parts/json-difference.tsx';
import { Loading } from '../../parts/loading.tsx';
import { shownError } from '../../parts/shown-error.ts';
import { tell } from '../../parts/toast.tsx';
import { PermissionChanges } from './permission-changes.tsx';

/** The review of the change that waits; and what is offered after one. */
export function ChangeReview() {
  const [shown, setShown] = useState<AppliedChange | null>(null);
  useSignalEffect(() => {
    const applied = lastApplied.value;
    if (applied === null) return;
    lastApplied.value = null;
    const { title, undo: canUndo } = applied;
    tell(`Applied: ${title}`, {
      actions: [
        ...(canUndo === undefined ? [] : [{ label: 'Undo', run: () => void takeBack(applied) }]),
        { label: 'Code', run: () => setShown(applied) },
      ],
    });
  });
  return (
    <>
      {pending.value !== null && <Review />}
      {shown !== null && (
        <Dialog title={shown.title} kind="wide" onClose={() => setShown(null)}>
          <Code steps={shown.steps} />
        </Dialog>
      )}
    </>
  );
}

async function takeBack(applied: AppliedChange): Promise<void> {
  try {
    await undo(applied);
    tell(`Undone: ${applied.title}`);
  } catch (error) {
    tell(failureOf(error).message, { isWrong: true });
  }
}

function Review() {
  const [isBusy, setBusy] = useState(false);
  const current = pending.value;
  if (current === null) return null;
  const { change, steps, failure, conflict, read } = current;
  const kinds = overview.value?.sources.map(({ kind }) => kind) ?? [];
  const apply = async (): Promise<void> => {
    setBusy(true);
    await applyPending();
    setBusy(false);
  };
  const refusal = isReadOnly ? READ_ONLY_REASON : isBusy ? 'Being applied' : undefined;
  const destroys = steps.some(isDestructive);
  // A draft that replaces another administrator's change is sent by its button alone, never by a key.
  const overwrites = conflict?.after !== undefined;
  return (
    <Dialog
      title={change.title}
      kind="drawer"
      onClose={giveUpPending}
      {...(overwrites ? {} : { onSubmit: () => void apply() })}
      footer={
        <>
          <Button kind={destroys || overwrites ? 'danger' : 'primary'} refusal={refusal} onClick={() => void apply()}>
            {conflict === undefined ? 'Apply' : overwrites ? 'Overwrite theirs' : 'Apply on top'}{' '}
            {steps.length > 1 ? `${steps.length} operations` : ''}
          </Button>
          <Button
            onClick={() => {
              if (overwrites) {
                change.draft?.discard?.();
                void refreshOverview();
              }
              giveUpPending();
            }}
          >
            {!overwrites ? 'Discard' : change.draft?.discard === undefined ? 'Back to the draft' : 'Discard my draft'}
          </Button>
          <span class="muted small end">
            {change.draft?.version !== undefined && `draft began at v${change.draft.version}, `}read at v{read.version}
          </span>
        </>
      }
    >
      <PermissionChanges changes={permissionChanges(steps, change.tables ?? [], read.entries)} />
      {failure !== undefined && conflict === undefined && <ErrorBox error={shownError(failure)} />}
      {conflict !== undefined && <Both conflict={conflict} isDiscarded={change.draft?.discard !== undefined} />}
      <ul class="step-list">
        {steps.slice(0, MOST_STEPS).map((step, index) => (
          <li key={index} class={`row-tight${isDestructive(step) ? ' is-drop' : ''}`}>
            <Icon name={isDestructive(step) ? 'trash' : 'check'} />
            <span>{describeStep(step, kinds)}</span>
          </li>
        ))}
        {steps.length > MOST_STEPS && <li class="muted">and {steps.length - MOST_STEPS} more, which are in the code below</li>}
      </ul>
      <Foreseen steps={steps} />
      <Code steps={steps} version={read.version} />
    </Dialog>
  );
}

/** The object as stored since the change began, beside the result of the change. */
function Both({ conflict: { before, now, after }, isDiscarded }: { readonly conflict: Conflict; readonly isDiscarded: boolean }) {
  return (
    <section class="stack-tight" aria-label="Conflict">
      <div class="banner banner-warn" role="alert">
        <Icon name="warn" />
        <p>
          Somebody else has changed the same objects since you began.{' '}
          {after === undefined
            ? 'Below is your change on top of theirs.'
            : `Your draft would undo their change: ${isDiscarded ? 'discard it' : 'close it'} and begin again with theirs, or overwrite theirs.`}
        </p>
      </div>
      <h3>Their change</h3>
      <JsonDifference name="Their change" before={before} after={now} />
      {after !== undefined && (
        <>
          <h3>Your draft on top of it</h3>
          <JsonDifference name="Your draft on top of it" before={now} after={after} />
        </>
      )}
    </section>
  );
}

const MOST_LINES = 12;
const MOST_STEPS = 100;
/** So many the service tries at a time. */
const MOST_TRIED = 1000;

/** What the change would do to the metadata and to the schemas of roles, tried on a draft of the service. */
function Foreseen({ steps }: { readonly steps: readonly Step[] }) {
  const isTried = steps.length <= MOST_TRIED && steps.every(({ type }) => changesOf(type) === 'metadata');
  const { value, failure, isLoading } = useResource(
    async (signal) => (isTried ? previewChanges(steps, { signal }) : undefined),
    JSON.stringify(steps),
  );
  if (!isTried) return <p class="muted small">What this does to the schemas of roles is known after it.</p>;
  if (failure !== undefined) return <ErrorBox error={shownError(failure)} />;
  if (value === undefined) return isLoading ? <Loading what="what would change" /> : null;
  return (
    <section class="stack-tight" aria-label="What would change">
      <p class="row">
        <span class={`badge ${value.isConsistent ? 'badge-ok' : 'badge-danger'}`}>
          <Icon name={value.isConsistent ? 'check' : 'warn'} />
          {value.isConsistent ? 'consistent afterwards' : 'inconsistent afterwards'}
        </span>
        {value.roles.length === 0 && <span class="muted small">No role’s schema changes.</span>}
      </p>
      {value.inconsistent.map(({ name, reason }) => (
        <p key={name + reason} class="small">
          <strong>{name}</strong> {reason}
        </p>
      ))}
      {value.broken.length > 0 && (
        <div class="banner banner-warn" role="alert">
          <Icon name="warn" />
          <div>
            <p>
              <strong>Would break {value.brokenCount === 1 ? 'a stored query' : `${value.brokenCount} stored queries`}</strong>
            </p>
            <ul class="stack-tight small">
              {value.broken.slice(0, MOST_LINES).map(({ collection, name, role, problem, endpoints }) => (
                <li key={`${collection} ${name} ${role}`}>
                  <strong>
                    {name} of {collection}
                  </strong>{' '}
                  for {role}
                  {endpoints.length > 0 && `, the REST endpoint ${endpoints.join(', ')}`}: {problem}
                </li>
              ))}
            </ul>
          </div>
        </div>
      )}
      {value.roles.map(({ role, added, removed, changed }) => {
        const lines = [
          ...removed.map((line) => ['−', line] as const),
          ...added.map((line) => ['+', line] as const),
          ...changed.map((line) => ['~', line] as const),
        ];
        return (
          <details key={role} open={value.roles.length < 3}>
            <summary>
              Schema of <strong>{role}</strong>{' '}
              <span class="muted small number">
                +{added.length} −{removed.length} ~{changed.length}
              </span>
            </summary>
            <section class="diff" tabIndex={0} aria-label={`Schema of ${role}`}>
              {lines.slice(0, MOST_LINES).map(([sign, line]) => (
                <div key={sign + line} class={sign === '+' ? 'plus' : sign === '−' ? 'minus' : ''}>
                  {sign} {line}
                </div>
              ))}
              {lines.length > MOST_LINES && <div class="muted">and {lines.length - MOST_LINES} more</div>}
            </section>
          </details>
        );
      })}
    </section>
  );
}

/** The same change as code, for a terminal or version control. */
export function Code({ steps, version }: { readonly steps: readonly Step[]; readonly version?: number }) {
  const [form, setForm] = useState<'json' | 'curl'>('json');
  const body: Json = bulkOf(steps, version);
  const secret = config.value?.['is_admin_secret_set'] !== false;
  const text = form === 'json' ? printJson(body, 2) : curlOf(`${base}v1/metadata`, body, { hasSecret: secret });
  return (
    <div class="stack-tight">
      <CodeForms
        name="Form of the code"
        options={[
          ['json', 'JSON'],
          ['curl', 'curl'],
        ]}
        chosen={form}
        text={text}
        onChoose={setForm}
      >
        <Button small icon="download" onClick={() => download('change.json', `${printJson(bulkOf(steps), 2)}\n`)}>
          Bulk file
        </Button>
      </CodeForms>
      <pre class="code-block" tabIndex={0}>
        {text}
      </pre>
    </div>
  );
}

/** All changes that this page has made, as one file. */
export function SessionChanges({ onClose }: { onClose(): void }) {
  const changes = sessionChanges.value;
  const steps = changes.flatMap((change) => change.steps);
  return (
    <Dialog title="Changes of this session" kind="drawer" onClose={onClose}>
      <ul class="stack">
        {changes.toReversed().map((change) => (
          <li key={change.at.getTime()} class="row">
            <span class="muted number">{change.at.toLocaleTimeString()}</span>
            <span class="grow">{change.title}</span>
            <span class="muted">v{change.version}</span>
            {change.undo !== undefined && (
              <Button small icon="undo" onClick={() => void takeBack(change)}>
                Undo
              </Button>
            )}
          </li>
        ))}
      </ul>
      <h3>All of them as code</h3>
      <Code steps={steps} />
    </Dialog>
  );
}
