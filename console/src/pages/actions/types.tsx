import { useState } from 'preact/hooks';
import { makeChange } from '../../api/changes.ts';
import { type Failure, failureOf } from '../../api/failure.ts';
import { isReadOnly, READ_ONLY_REASON } from '../../api/settings.ts';
import { attempt } from '../../features/attempt.ts';
import { mergedTypes, parseActionDocument, printActionDocument, typesIn, unusedTypes, withoutTypes } from '../../model/action-document.ts';
import type { Json } from '../../model/json.ts';
import { Button } from '../../parts/button.tsx';
import { CodeEditor } from '../../parts/code-editor.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { Icon } from '../../parts/icon.tsx';
import { shownError } from '../../parts/shown-error.ts';
import { type Actions, changeOfTypes } from './read-actions.ts';
import { marksOfSdl } from './sdl-marks.ts';
import { TypeRelationships } from './type-relationships.tsx';

/** All types of actions as SDL, those that nothing uses, and their relationships. */
export function Types({ all: { actions, types } }: { readonly all: Actions }) {
  const [draft, setDraft] = useState<{ readonly text: string; readonly before: Json }>();
  const [failure, setFailure] = useState<Failure>();
  const [refusedText, setRefusedText] = useState('');
  const before = printed(types);
  const text = draft?.text;
  const unused = unusedTypes(types, actions);
  const refusal = isReadOnly ? READ_ONLY_REASON : undefined;
  const marks = marksOfSdl(text ?? before, failure === undefined ? undefined : { text: refusedText, failure });
  const save = async (): Promise<void> => {
    setFailure(undefined);
    try {
      const { actions: written, types: next } = parseActionDocument(text ?? before);
      if (written.length > 0) throw new Error('Here are types only: the fields of Query and Mutation are at their actions.');
      const began = draft?.before ?? types;
      const names = new Set(typesIn(began).map(({ name }) => name));
      const merged = (now: Json): Json => mergedTypes(now, names, next);
      const done = await makeChange({
        ...changeOfTypes('Types of actions', merged),
        draft: { before: linesOf(began), now: (_, [now = null]) => linesOf(now), after: (_, [now = null]) => linesOf(merged(now)) },
      });
      if (done !== null) setDraft(undefined);
    } catch (error) {
      setRefusedText(text ?? before);
      setFailure(failureOf(error));
    }
  };
  return (
    <>
      {unused.length > 0 && (
        <div class="banner" role="note">
          <Icon name="info" />
          <span class="grow">
            No action uses {unused.length === 1 ? 'the type' : 'the types'}{' '}
            {unused.map((name, index) => (
              <span key={name}>
                {index > 0 && ', '}
                <strong>{name}</strong>
              </span>
            ))}
            .
          </span>
          <Button
            small
            title="set_custom_types"
            refusal={refusal}
            onClick={() =>
              void attempt({ ...changeOfTypes('Drop unused types of actions', (now) => withoutTypes(now, unused)), review: true })
            }
          >
            Drop {unused.length === 1 ? 'it' : 'them'} …
          </Button>
        </div>
      )}
      {failure !== undefined && <ErrorBox error={shownError(failure)} />}
      <section class="card stack">
        <p class="muted">
          Types of arguments and answers of all actions: <code>type</code>, <code>input</code>, <code>enum</code>, <code>scalar</code>.
          Scalars of databases, such as <code>uuid</code>, are there by their names.
        </p>
        <CodeEditor
          name="Types of actions"
          language="graphql"
          height="min(50vh, 420px)"
          value={text ?? before}
          marks={marks}
          hint="type Login { token: String! }"
          readOnly={isReadOnly}
          onChange={(next) => setDraft({ text: next, before: draft === undefined ? types : draft.before })}
          onRun={() => void save()}
        />
        {marks.length > 0 && (failure === undefined || (text ?? before) !== refusedText) && <p class="wrong small">{marks[0]?.message}</p>}
        <div class="row">
          <Button
            kind="primary"
            title="set_custom_types"
            refusal={refusal ?? (text === undefined || text === before ? 'Nothing is changed' : undefined)}
            onClick={() => void save()}
          >
            Save
          </Button>
          <Button
            refusal={text === undefined ? 'Nothing is changed' : undefined}
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

/** The types as they are compared: line by line. */
function linesOf(types: Json): Json {
  return printed(types).split('\n');
}

function printed(types: Json): string {
  return typesIn(types).length === 0 ? '' : printActionDocument([], types);
}
