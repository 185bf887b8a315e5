import { useEffect, useState } from 'preact/hooks';
import { makeChange } from '../../api/changes.ts';
import { DOCUMENT, readMetadata } from '../../api/entries.ts';
import { Failure, failureOf } from '../../api/failure.ts';
import { readOperation } from '../../api/metadata.ts';
import { overview } from '../../api/overview.ts';
import { isReadOnly, READ_ONLY_REASON } from '../../api/settings.ts';
import { copyText, download } from '../../browser/clipboard.ts';
import { draftsUnder, settleText, useTextDraft } from '../../browser/drafts.ts';
import { place, setQuery } from '../../browser/place.ts';
import { equalJson, isObject, type Json, type JsonObject, parseJsonText, printJson } from '../../model/json.ts';
import { type Difference, metadataDifferences, withDifferences } from '../../model/metadata-difference.ts';
import { Button } from '../../parts/button.tsx';
import { CodeEditor } from '../../parts/code-editor.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { Check } from '../../parts/field.tsx';
import { shownError } from '../../parts/shown-error.ts';
import { showToast } from '../../parts/toast.tsx';
import { ChangedObject, FoldedDifference } from './object-difference.tsx';

/** Runs a task and shows its failure. */
type Guarded = (task: () => Promise<void>) => Promise<void>;

interface Compared {
  readonly version: number;
  readonly before: JsonObject;
  readonly differences: readonly Difference[];
}

const CHANGED = 'The metadata has changed since the comparison. Compare again.';

/** Key of the draft of the document to import. */
const IMPORT_DRAFT = 'metadata import';

/** Returns why no version can be restored: a text under Import that would be lost. */
export function restoreRefusal(): string | undefined {
  return draftsUnder(IMPORT_DRAFT).length > 0 ? 'Clear the text under Import first: it would be replaced' : undefined;
}

/** The document as a file, and a document compared with what is there. */
export function Exchange() {
  const [failure, setFailure] = useState<Failure>();
  const guarded: Guarded = async (task) => {
    setFailure(undefined);
    try {
      await task();
    } catch (error) {
      setFailure(failureOf(error));
    }
  };
  const comparison = useComparison(guarded);
  const [text, edit] = useTextDraft(IMPORT_DRAFT);
  const renew = (): void => {
    setFailure(undefined);
    comparison.clear();
  };
  const setText = (next: string): void => {
    edit(next);
    renew();
  };
  const open = (document: string): void => {
    settleText(IMPORT_DRAFT, document);
    renew();
  };
  useVersionInAddress((version) =>
    guarded(async () => {
      // The address may be opened in the page that has the text.
      const refusal = restoreRefusal();
      if (refusal !== undefined) throw new Failure(refusal, { code: 'unsaved-import' });
      const document = await versionDocument(version);
      open(document);
      await comparison.compare(document);
    }),
  );
  const compare = (): void => void comparison.compare(text);
  return (
    <>
      {failure !== undefined && <ErrorBox error={shownError(failure)} />}
      <Export guarded={guarded} onEdit={open} />
      <Import text={text} onText={setText} onOpen={open} onCompare={compare} />
      {comparison.compared !== null && (
        <Differences
          differences={comparison.compared.differences}
          unticked={comparison.unticked}
          allow={comparison.allow}
          onUntick={comparison.setUnticked}
          onAllow={comparison.setAllow}
          onApply={(chosen) => void comparison.apply(chosen, text)}
        />
      )}
    </>
  );
}

/** Restores the version that the history passed in the address. */
function useVersionInAddress(restore: (version: number) => Promise<void>): void {
  const version = place.value.query.get('version');
  useEffect(() => {
    if (version === null) return;
    setQuery({ version: undefined });
    void restore(Number(version));
  }, [version]);
}

/** Returns the metadata after a change in the history, as text. @throws Failure */
async function versionDocument(version: number): Promise<string> {
  const json = await readOperation('get_metadata_version', { resource_version: version });
  return printJson(isObject(json) ? (json['metadata'] ?? null) : null, 2);
}

/** State of an import: the differences from the metadata, and which of them to apply. */
function useComparison(guarded: Guarded) {
  const [compared, setCompared] = useState<Compared | null>(null);
  const [unticked, setUnticked] = useState<ReadonlySet<string>>(new Set());
  const [allow, setAllow] = useState(false);
  const compare = (json: string): Promise<void> =>
    guarded(async () => {
      const after = documentOf(parseJsonText(json));
      const { version, metadata } = await readMetadata();
      setUnticked(new Set());
      setCompared({ version, before: metadata, differences: metadataDifferences(metadata, after) });
    });
  const apply = (chosen: readonly Difference[], json: string): Promise<void> =>
    guarded(async () => {
      if (compared === null || !(await replaceMetadata(compared.before, chosen, allow))) return;
      showToast('Metadata imported');
      settleText(IMPORT_DRAFT, json);
      await compare(json);
    });
  return { compared, unticked, allow, compare, apply, clear: (): void => setCompared(null), setUnticked, setAllow };
}

/** Returns false if the change was cancelled. */
async function replaceMetadata(compared: JsonObject, chosen: readonly Difference[], allow: boolean): Promise<boolean> {
  const metadata = withDifferences(compared, chosen);
  const replace = (document: JsonObject, allowed: boolean) => ({
    type: 'replace_metadata',
    args: { metadata: document, allow_inconsistent_metadata: allowed },
  });
  const done = await makeChange({
    title: `Import ${chosen.length} ${chosen.length === 1 ? 'object' : 'objects'}`,
    review: true,
    parts: [DOCUMENT],
    steps: (_, [now = null]) => {
      if (!equalJson(now, compared)) throw new Failure(CHANGED, { code: 'changed-since' });
      return [replace(metadata, allow)];
    },
    inverse: ([before = null]) => [replace(isObject(before) ? before : {}, true)],
  });
  return done !== null;
}

function Export({ guarded, onEdit }: { readonly guarded: Guarded; onEdit(text: string): void }) {
  const exported = async (): Promise<string> => printJson((await readMetadata()).metadata, 2);
  const copy = async (): Promise<void> => {
    await copyText(await exported());
    showToast('Copied');
  };
  return (
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
        <Button icon="copy" onClick={() => void guarded(copy)}>
          Copy
        </Button>
        <Button icon="edit" onClick={() => void guarded(async () => onEdit(await exported()))}>
          Edit
        </Button>
      </header>
      <p class="muted">The whole metadata, version {overview.value?.version}. It contains the secrets that are stored in the metadata.</p>
    </section>
  );
}

function Import({
  text,
  onText,
  onOpen,
  onCompare,
}: {
  readonly text: string;
  onText(text: string): void;
  /** Called with the text of a file. */
  onOpen(text: string): void;
  onCompare(): void;
}) {
  return (
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
              if (file !== undefined) void file.text().then(onOpen);
            }}
          />
        </label>
      </header>
      <p class="muted">
        Paste metadata as JSON, or open a file. The comparison lists each object that differs, and imports the selected ones.
      </p>
      <CodeEditor name="Metadata to import" language="json" height="17.5rem" value={text} onChange={onText} onRun={onCompare} />
      <div class="row">
        <Button kind="primary" refusal={text.trim() === '' ? 'Paste metadata or open a file' : undefined} onClick={onCompare}>
          Compare
        </Button>
      </div>
    </section>
  );
}

function Differences({
  differences,
  unticked,
  allow,
  onUntick,
  onAllow,
  onApply,
}: {
  readonly differences: readonly Difference[];
  /** Keys of differences that are not applied. */
  readonly unticked: ReadonlySet<string>;
  /** If true, the metadata may become inconsistent. */
  readonly allow: boolean;
  onUntick(keys: ReadonlySet<string>): void;
  onAllow(allow: boolean): void;
  onApply(chosen: readonly Difference[]): void;
}) {
  const chosen = differences.filter(({ key }) => !unticked.has(key));
  const tick = (key: string, on: boolean): void => {
    const next = new Set(unticked);
    if (on) next.delete(key);
    else next.add(key);
    onUntick(next);
  };
  return (
    <section class="card stack">
      <header>
        <h2>Differences</h2>
        <span class="grow" role="status">
          {differences.length === 0 ? 'No differences' : summaryOf(differences)}
        </span>
      </header>
      {differences.map((each) => (
        <DifferenceLine key={each.key} difference={each} isTicked={!unticked.has(each.key)} onTick={(on) => tick(each.key, on)} />
      ))}
      {differences.length > 0 && (
        <div class="row">
          <Button
            kind="primary"
            title="replace_metadata"
            refusal={isReadOnly ? READ_ONLY_REASON : chosen.length === 0 ? 'Select a difference' : undefined}
            onClick={() => onApply(chosen)}
          >
            Apply {chosen.length} …
          </Button>
          <Check label="Allow inconsistent metadata" checked={allow} onChange={onAllow} />
        </div>
      )}
    </section>
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
      <Check label={<ChangedObject kind={kind} label={label} />} checked={isTicked} onChange={onTick} />
      <FoldedDifference label={label} {...(before === undefined ? {} : { before })} {...(after === undefined ? {} : { after })} />
    </div>
  );
}
