import { useState } from 'preact/hooks';
import { makeChange } from '../../api/changes.ts';
import { type Failure, failureOf } from '../../api/failure.ts';
import { isReadOnly, readOnlyRefusal } from '../../api/settings.ts';
import { useDraft } from '../../browser/drafts.ts';
import { attempt } from '../../features/attempt.ts';
import { mergedTypes, parseActionDocument, printActionDocument, typesIn, unusedTypes, withoutTypes } from '../../model/action-document.ts';
import type { Json } from '../../model/json.ts';
import { Button } from '../../parts/button.tsx';
import { CodeEditor } from '../../parts/code-editor.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { Icon } from '../../parts/icon.tsx';
import { shownError } from '../../parts/shown-error.ts';
import { type ActionsMetadata, changeOfTypes } from './read-actions.ts';
import { marksOfSdl } from './sdl-marks.ts';
import { TypeRelationships } from './type-relationships.tsx';

/** All custom types as SDL, the unused ones, and their relationships. */
export function Types({ all: { actions, types } }: { readonly all: ActionsMetadata }) {
  const [draft, setDraft] = useDraft<{ readonly text: string; readonly before: Json }>('types');
  const [failure, setFailure] = useState<Failure>();
  const [rejectedText, setRejectedText] = useState('');
  const before = printed(types);
  const text = draft?.text;
  const unused = unusedTypes(types, actions);
  const marks = marksOfSdl(text ?? before, failure === undefined ? undefined : { text: rejectedText, failure });
  const save = async (): Promise<void> => {
    setFailure(undefined);
    try {
      if (await saveTypes(text ?? before, draft?.before ?? types)) setDraft(undefined);
    } catch (error) {
      setRejectedText(text ?? before);
      setFailure(failureOf(error));
    }
  };
  return (
    <>
      {unused.length > 0 && <UnusedTypes names={unused} />}
      {failure !== undefined && <ErrorBox error={shownError(failure)} />}
      <section class="card stack">
        <p class="muted">
          Types of the arguments and results of all actions: <code>type</code>, <code>input</code>, <code>enum</code>, <code>scalar</code>.
          Database scalars such as <code>uuid</code> can be used without a definition.
        </p>
        <CodeEditor
          name="Custom types"
          language="graphql"
          height="min(50vh, 26.25rem)"
          value={text ?? before}
          marks={marks}
          hint="type Login { token: String! }"
          readOnly={isReadOnly}
          onChange={(next) => setDraft(next === before ? undefined : { text: next, before: draft === undefined ? types : draft.before })}
          onRun={() => void save()}
        />
        {marks.length > 0 && (failure === undefined || (text ?? before) !== rejectedText) && (
          <p class="error-text small">{marks[0]?.message}</p>
        )}
        <div class="row">
          <Button
            kind="primary"
            title="set_custom_types"
            refusal={readOnlyRefusal ?? (text === undefined || text === before ? 'No changes' : undefined)}
            onClick={() => void save()}
          >
            Save
          </Button>
          <Button
            refusal={text === undefined ? 'No changes' : undefined}
            onClick={() => {
              setFailure(undefined);
              setDraft(undefined);
            }}
          >
            Reset
          </Button>
        </div>
      </section>
      <TypeRelationships types={types} />
    </>
  );
}

function UnusedTypes({ names }: { readonly names: readonly string[] }) {
  const word = names.length === 1 ? 'type' : 'types';
  return (
    <div class="banner" role="note">
      <Icon name="info" />
      <span class="grow">
        Unused {word}:{' '}
        {names.map((name, index) => (
          <span key={name}>
            {index > 0 && ', '}
            <strong>{name}</strong>
          </span>
        ))}
      </span>
      <Button
        small
        title="set_custom_types"
        refusal={readOnlyRefusal}
        onClick={() => void attempt({ ...changeOfTypes('Delete unused types', (now) => withoutTypes(now, names)), review: true })}
      >
        Delete {word} …
      </Button>
    </div>
  );
}

/** @param basis types when the draft began @returns false if the review was discarded @throws Error */
async function saveTypes(text: string, basis: Json): Promise<boolean> {
  const { actions, types: next } = parseActionDocument(text);
  if (actions.length > 0) throw new Error('Remove type Query and type Mutation. Their fields belong to the actions.');
  const names = new Set(typesIn(basis).map(({ name }) => name));
  const merged = (now: Json): Json => mergedTypes(now, names, next);
  const done = await makeChange({
    ...changeOfTypes('Custom types', merged),
    draft: { before: linesOf(basis), now: (_, [now = null]) => linesOf(now), after: (_, [now = null]) => linesOf(merged(now)) },
  });
  return done !== null;
}

/** Lines of the types, for comparison. */
function linesOf(types: Json): Json {
  return printed(types).split('\n');
}

function printed(types: Json): string {
  return typesIn(types).length === 0 ? '' : printActionDocument([], types);
}
