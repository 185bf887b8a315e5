/** The editor itself: a chunk of its own, loaded by the first page that shows one. */
import {
  autocompletion,
  type CompletionSource,
  closeBrackets,
  closeBracketsKeymap,
  closeCompletion,
  completionKeymap,
} from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { json } from '@codemirror/lang-json';
import { MySQL, PostgreSQL, sql } from '@codemirror/lang-sql';
import { bracketMatching, indentOnInput } from '@codemirror/language';
import { type Diagnostic, lintKeymap, setDiagnostics } from '@codemirror/lint';
import { highlightSelectionMatches, searchKeymap } from '@codemirror/search';
import { Compartment, EditorState, type Extension, Prec, type Transaction } from '@codemirror/state';
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers, placeholder } from '@codemirror/view';
import { graphqlLanguage, highlighting, look } from './code-language.ts';
import type { CodeLanguage, CodeMark, CompletionAnswer } from './code-editor-types.ts';

export interface EditorOptions {
  readonly parent: ShadowRoot;
  readonly label: string;
  readonly value: string;
  readonly language: CodeLanguage;
  readonly isReadOnly: boolean;
  readonly hint: string | undefined;
  onChange(value: string): void;
  onRun(): void;
  complete(text: string, at: number): Promise<CompletionAnswer | null>;
}

export interface Editor {
  setValue(value: string): void;
  setMarks(marks: readonly CodeMark[]): void;
  setTables(tables: Readonly<Record<string, readonly string[]>>): void;
  selection(): { readonly from: number; readonly to: number };
  insert(text: string): void;
  focus(): void;
  destroy(): void;
}

export function openEditor({ parent, label, value, language, isReadOnly, hint, onChange, onRun, complete }: EditorOptions): Editor {
  const source: CompletionSource = async (context) => {
    const word = context.matchBefore(/[\w$]*/);
    if (
      !context.explicit &&
      (word === null || word.from === word.to) &&
      !/[{(:\s,]$/.test(context.state.sliceDoc(Math.max(0, context.pos - 1), context.pos))
    )
      return null;
    const answer = await complete(context.state.doc.toString(), context.pos);
    if (answer === null || context.aborted) return null;
    return {
      from: word?.from ?? context.pos,
      options: answer.options.map(({ label: name, detail, info, apply, boost }) => ({
        label: name,
        ...(detail === undefined ? {} : { detail }),
        ...(info === undefined || info === '' ? {} : { info }),
        ...(apply === undefined ? {} : { apply }),
        ...(boost === undefined ? {} : { boost }),
      })),
      validFor: /^[\w$]*$/,
    };
  };
  const dialect = new Compartment();
  const extension: Record<CodeLanguage, () => Extension> = {
    graphql: () => [graphqlLanguage, graphqlLanguage.data.of({ autocomplete: source })],
    json: () => json(),
    sql: () => dialect.of(sql({ dialect: PostgreSQL, upperCaseKeywords: false })),
    'sql-mysql': () => dialect.of(sql({ dialect: MySQL, upperCaseKeywords: false })),
    text: () => [],
  };
  let isOwn = false;
  const view = new EditorView({
    parent,
    root: parent,
    state: EditorState.create({
      doc: value,
      extensions: [
        Prec.highest(keymap.of([{ key: 'Mod-Enter', run: (view) => ranBy(view, onRun) }])),
        lineNumbers(),
        history(),
        drawSelection(),
        bracketMatching(),
        closeBrackets(),
        indentOnInput(),
        highlightActiveLine(),
        highlightSelectionMatches(),
        autocompletion({ icons: false, activateOnTypingDelay: 60 }),
        keymap.of([
          ...closeBracketsKeymap,
          ...completionKeymap,
          ...searchKeymap,
          ...historyKeymap,
          ...lintKeymap,
          ...defaultKeymap,
          indentWithTab,
        ]),
        extension[language](),
        highlighting,
        look,
        EditorState.readOnly.of(isReadOnly),
        EditorView.lineWrapping,
        EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
        ...(hint === undefined ? [] : [placeholder(hint)]),
        EditorView.domEventHandlers({ beforeinput: typedOver }),
        EditorView.updateListener.of((update) => {
          if (update.docChanged && !isOwn) onChange(update.state.doc.toString());
        }),
      ],
    }),
  });
  return {
    setValue(next) {
      const before = view.state.doc.toString();
      if (before === next) return;
      isOwn = true;
      view.dispatch({ changes: { from: 0, to: before.length, insert: next } });
      isOwn = false;
    },
    setMarks(marks) {
      const end = view.state.doc.length;
      const shown: Diagnostic[] = marks.map(({ from, to, message }) => ({
        from: Math.min(from, end),
        to: Math.min(Math.max(to, from + 1), end),
        message,
        severity: 'error',
      }));
      view.dispatch(setDiagnostics(view.state, shown));
    },
    setTables(tables) {
      if (language !== 'sql' && language !== 'sql-mysql') return;
      view.dispatch({
        effects: dialect.reconfigure(sql({ dialect: language === 'sql' ? PostgreSQL : MySQL, schema: tables, defaultSchema: 'public' })),
      });
    },
    selection() {
      const { from, to } = view.state.selection.main;
      return { from, to };
    },
    insert(text) {
      view.dispatch(view.state.replaceSelection(text));
      view.focus();
    },
    focus: () => view.focus(),
    destroy: () => view.destroy(),
  };
}

/**
 * What is typed over a selection is put in here: the browser would copy the look of what it replaces into a style attribute, which the
 * policy of the page refuses, with an error for each letter.
 */
function typedOver(event: InputEvent, view: EditorView): boolean {
  const { state } = view;
  const { from, to, empty } = state.selection.main;
  const text = event.data;
  if (event.inputType !== 'insertText' || text === null || empty || state.readOnly || view.composing) return false;
  event.preventDefault();
  const insert = (): Transaction => state.update(state.replaceSelection(text), { userEvent: 'input.type', scrollIntoView: true });
  if (!state.facet(EditorView.inputHandler).some((handle) => handle(view, from, to, text, insert))) view.dispatch(insert());
  return true;
}

/** A key that was used is no key for others. A list of completions, also one that is still to come, would lie on the answer. */
function ranBy(view: EditorView, run: () => void): true {
  closeCompletion(view);
  run();
  return true;
}
