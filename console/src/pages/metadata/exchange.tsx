import { useState } from 'preact/hooks';
import { makeChange } from '../../api/changes.ts';
import { DOCUMENT, readMetadata } from '../../api/entries.ts';
import { Failure, failureOf } from '../../api/failure.ts';
import { overview } from '../../api/overview.ts';
import { isReadOnly, READ_ONLY_REASON } from '../../api/settings.ts';
import { copyText, download } from '../../browser/clipboard.ts';
import { equalJson, isObject, type Json, type JsonObject, parseJsonText, printJson } from '../../model/json.ts';
import { type Difference, metadataDifferences, withDifferences } from '../../model/metadata-difference.ts';
import { Button } from '../../parts/button.tsx';
import { CodeEditor } from '../../parts/code-editor.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { Check } from '../../parts/field.tsx';
import { JsonDifference } from '../../parts/json-difference.tsx';
import { shownError } from '../../parts/shown-error.ts';
import { showToast } from '../../parts/toast.tsx';

interface Compared {
  readonly version: number;
  readonly before: JsonObject;
  readonly differences: readonly Difference[];
}

const CHANGED = 'The metadata has changed since the comparison. Compare again.';

const MARKS = { added: '+', removed: '−', changed: '~' } as const;

/** The document as a file, and a document compared with what is there. */
export function Exchange() {
  const [text, setText] = useState('');
  const [compared, setCompared] = useState<Compared | null>(null);
  const [unticked, setUnticked] = useState<ReadonlySet<string>>(new Set());
  const [allow, setAllow] = useState(false);
  const [failure, setFailure] = useState<Failure>();
  const guarded = async (task: () => Promise<void>): Promise<void> => {
    setFailure(undefined);
    try {
      await task();
    } catch (error) {
      setFailure(failureOf(error));
    }
  };
  const exported = async (): Promise<string> => printJson((await readMetadata()).metadata, 2);
  const compare = (json: string): Promise<void> =>
    guarded(async () => {
      const after = documentOf(parseJsonText(json));
      const { version, metadata } = await readMetadata();
      setUnticked(new Set());
      setCompared({ version, before: metadata, differences: metadataDifferences(metadata, after) });
    });
  const chosen = compared?.differences.filter(({ key }) => !unticked.has(key)) ?? [];
  const apply = (): Promise<void> =>
    guarded(async () => {
      if (compared === null) return;
      const metadata = withDifferences(compared.before, chosen);
      const replace = (document: JsonObject, allowed: boolean) => ({
        type: 'replace_metadata',
        args: { metadata: document, allow_inconsistent_metadata: allowed },
      });
      const done = await makeChange({
        title: `Import ${chosen.length} ${chosen.length === 1 ? 'object' : 'objects'}`,
        review: true,
        parts: [DOCUMENT],
        steps: (_, [now = null]) => {
          if (!equalJson(now, compared.before)) throw new Failure(CHANGED, { code: 'changed-since' });
          return [replace(metadata, allow)];
        },
        inverse: ([before = null]) => [replace(isObject(before) ? before : {}, true)],
      });
      if (done === null) return;
      showToast('Metadata imported');
      await compare(text);
    });
  return (
    <>
      {failure !== undefined && <ErrorBox error={shownError(failure)} />}
      <section class="card">
        <header>
          <h2 class="grow">Export</h2>
          <Button
            icon="download"
            title="export_metadata"
            onClick={() => void guarded(async () => download(`metadata-v${overview.peek()?.version ?? ''}.json`, await exported()))}
          >
            Download
          </Button>
          <Button
            icon="copy"
            onClick={() =>
              void guarded(async () => {
                await copyText(await exported());
                showToast('Copied');
              })
            }
          >
            Copy
          </Button>
          <Button icon="edit" onClick={() => void guarded(async () => setText(await exported()))}>
            Edit
          </Button>
        </header>
        <p class="muted">The whole metadata, version {overview.value?.version}. It contains the secrets that are stored in the metadata.</p>
      </section>
      <section class="card stack">
        <header>
          <h2 class="grow">Import</h2>
          <label class="button">
            Open file
            <input
              type="file"
              accept="application/json,.json"
              class="visually-hidden"
              onChange={(event) => {
                const file = event.currentTarget.files?.[0];
                if (file !== undefined) void file.text().then(setText);
              }}
            />
          </label>
        </header>
        <CodeEditor
          name="Metadata to import"
          language="json"
          height="280px"
          value={text}
          onChange={setText}
          onRun={() => void compare(text)}
        />
        <div class="row">
          <Button
            kind="primary"
            refusal={text.trim() === '' ? 'Paste metadata or open a file' : undefined}
            onClick={() => void compare(text)}
          >
            Compare
          </Button>
        </div>
      </section>
      {compared !== null && (
        <section class="card stack">
          <header>
            <h2>Differences</h2>
            <span class="grow" role="status">
              {compared.differences.length === 0 ? 'No differences' : summaryOf(compared.differences)}
            </span>
          </header>
          {compared.differences.map((difference) => (
            <DifferenceLine
              key={difference.key}
              difference={difference}
              isTicked={!unticked.has(difference.key)}
              onTick={(on) => {
                const next = new Set(unticked);
                if (on) next.delete(difference.key);
                else next.add(difference.key);
                setUnticked(next);
              }}
            />
          ))}
          {compared.differences.length > 0 && (
            <div class="row">
              <Button
                kind="primary"
                title="replace_metadata"
                refusal={isReadOnly ? READ_ONLY_REASON : chosen.length === 0 ? 'Select a difference' : undefined}
                onClick={() => void apply()}
              >
                Apply {chosen.length} …
              </Button>
              <Check label="Allow inconsistent metadata" checked={allow} onChange={setAllow} />
            </div>
          )}
        </section>
      )}
    </>
  );
}

/** Returns a metadata document, or the one inside a response of `export_metadata`. @throws SyntaxError */
function documentOf(json: Json): JsonObject {
  const document = isObject(json) && isObject(json['metadata']) ? json['metadata'] : json;
  if (!isObject(document) || document['sources'] === undefined) throw new SyntaxError('not a metadata document: "sources" is missing');
  return document;
}

function summaryOf(differences: readonly Difference[]): string {
  const count = (kind: Difference['kind']): number => differences.filter((each) => each.kind === kind).length;
  return (['changed', 'added', 'removed'] as const)
    .filter((kind) => count(kind) > 0)
    .map((kind) => `${count(kind)} ${kind}`)
    .join(', ');
}

function DifferenceLine({
  difference,
  isTicked,
  onTick,
}: {
  readonly difference: Difference;
  readonly isTicked: boolean;
  onTick(on: boolean): void;
}) {
  const { label, kind, before, after } = difference;
  return (
    <div>
      <Check
        label={
          <>
            <span class={`badge ${kind === 'added' ? 'badge-ok' : kind === 'removed' ? 'badge-danger' : 'badge-accent'}`}>
              {MARKS[kind]} {kind}
            </span>{' '}
            {label}
          </>
        }
        checked={isTicked}
        onChange={onTick}
      />
      <details>
        <summary class="muted small">Show</summary>
        <JsonDifference before={before} after={after} />
      </details>
    </div>
  );
}
