/** The editor, in a chunk that the first page with an editor loads. */
import {
  autocompletion,
  type CompletionSource,
  closeBrackets,
  closeBracketsKeymap,
  closeCompletion,
  completionKeymap,
} from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { json, jsonLanguage } from '@codemirror/lang-json';
import { MySQL, PostgreSQL, sql } from '@codemirror/lang-sql';
import { bracketMatching, indentOnInput } from '@codemirror/language';
import { type Diagnostic, lintKeymap, setDiagnostics } from '@codemirror/lint';
import { highlightSelectionMatches, searchKeymap } from '@codemirror/search';
import { Compartment, EditorState, type Extension, Prec, type Transaction } from '@codemirror/state';
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers, placeholder } from '@codemirror/view';
import { highlighting, look } from './code-language.ts';
import { graphqlLanguage } from './graphql-language.ts';
import type { CodeLanguage, CodeMark, Completions } from './code-editor-types.ts';
import { type RangeAt, runningRange } from './running-range.ts';

export interface EditorOptions {
  readonly parent: ShadowRoot;
  readonly label: string;
  readonly value: string;
  readonly language: CodeLanguage;
  readonly isReadOnly: boolean;
  readonly hint: string | undefined;
  onChange(value: string): void;
  onRun(): void;
  complete(text: string, at: number): Promise<Completions | null>;
  /** Part that a run would send, to be marked. */
  readonly rangeAt: RangeAt | undefined;
  /** Called when the selection becomes empty or is no longer empty. */
  onSelect(hasSelection: boolean): void;
}

export interface Editor {
  setValue(value: string): void;
  setMarks(marks: readonly CodeMark[]): void;
  setTables(tables: Readonly<Record<string, readonly string[]>>): void;
  selection(): { readonly from: number; readonly to: number };
  insert(text: string): void;
  /** Replaces a part of the document, as a step that can be undone. */
  replace(from: number, to: number, text: string): void;
  /** Selects a part of the document and shows it. */
  select(from: number, to: number): void;
  focus(): void;
  destroy(): void;
}

/** Completions of the page at the cursor. */
function completionSource(complete: EditorOptions['complete']): CompletionSource {
  return async (context) => {
    const word = context.matchBefore(/[\w$]*/);
    if (
      !context.explicit &&
      (word === null || word.from === word.to) &&
      !/[{(:\s,"]$/.test(context.state.sliceDoc(Math.max(0, context.pos - 1), context.pos))
    )
      return null;
    const result = await complete(context.state.doc.toString(), context.pos);
    if (result === null || context.aborted) return null;
    return {
      from: word?.from ?? context.pos,
      options: result.options.map(({ label: name, detail, info, apply, boost }) => ({
        label: name,
        ...(detail === undefined ? {} : { detail }),
        ...(info === undefined || info === '' ? {} : { info }),
        ...(apply === undefined ? {} : { apply }),
        ...(boost === undefined ? {} : { boost }),
      })),
      validFor: /^[\w$]*$/,
    };
  };
}

/** Features that all editors have. */
function basics(): Extension {
  return [
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
    highlighting,
    look,
    EditorView.lineWrapping,
    EditorView.domEventHandlers({ beforeinput: replaceSelection }),
  ];
}

export function openEditor(options: EditorOptions): Editor {
  const { parent, label, value, language, isReadOnly, hint, onChange, onRun, onSelect, rangeAt } = options;
  const autocomplete = completionSource(options.complete);
  const dialect = new Compartment();
  const extension: Record<CodeLanguage, () => Extension> = {
    graphql: () => [graphqlLanguage, graphqlLanguage.data.of({ autocomplete })],
    json: () => [json(), jsonLanguage.data.of({ autocomplete })],
    sql: () => [dialect.of(sql({ dialect: PostgreSQL, upperCaseKeywords: false })), PostgreSQL.language.data.of({ autocomplete })],
    'sql-mysql': () => [dialect.of(sql({ dialect: MySQL, upperCaseKeywords: false })), MySQL.language.data.of({ autocomplete })],
    text: () => [],
  };
  /** True while `setValue` changes the document. */
  let isSetting = false;
  const view = new EditorView({
    parent,
    root: parent,
    state: EditorState.create({
      doc: value,
      extensions: [
        Prec.highest(keymap.of([{ key: 'Mod-Enter', run: (view) => runFrom(view, onRun) }])),
        basics(),
        extension[language](),
        EditorState.readOnly.of(isReadOnly),
        EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
        ...(hint === undefined ? [] : [placeholder(hint)]),
        ...(rangeAt === undefined ? [] : [runningRange(rangeAt)]),
        EditorView.updateListener.of((update) => {
          if (update.docChanged && !isSetting) onChange(update.state.doc.toString());
          const { empty } = update.state.selection.main;
          if (update.selectionSet && empty !== update.startState.selection.main.empty) onSelect(!empty);
        }),
      ],
    }),
  });
  return {
    setValue(next) {
      const before = view.state.doc.toString();
      if (before === next) return;
      isSetting = true;
      view.dispatch({ changes: { from: 0, to: before.length, insert: next } });
      isSetting = false;
    },
    setTables(tables) {
      if (language !== 'sql' && language !== 'sql-mysql') return;
      view.dispatch({
        effects: dialect.reconfigure(sql({ dialect: language === 'sql' ? PostgreSQL : MySQL, schema: tables, defaultSchema: 'public' })),
      });
    },
    ...methodsOf(view),
  };
}

function methodsOf(view: EditorView): Omit<Editor, 'setValue' | 'setTables'> {
  return {
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
    selection() {
      const { from, to } = view.state.selection.main;
      return { from, to };
    },
    insert(text) {
      view.dispatch(view.state.replaceSelection(text));
      view.focus();
    },
    replace(from, to, text) {
      view.dispatch({ changes: { from, to, insert: text }, selection: { anchor: from + text.length }, scrollIntoView: true });
      view.focus();
    },
    select(from, to) {
      const end = view.state.doc.length;
      view.dispatch({ selection: { anchor: Math.min(from, end), head: Math.min(to, end) }, scrollIntoView: true });
      view.focus();
    },
    focus: () => view.focus(),
    destroy: () => view.destroy(),
  };
}

/**
 * Replaces a selection by typed text. The browser would copy the style of the replaced text into a style attribute, which the content
 * security policy rejects with an error for each letter.
 */
function replaceSelection(event: InputEvent, view: EditorView): boolean {
  const { state } = view;
  const { from, to, empty } = state.selection.main;
  const text = event.data;
  if (event.inputType !== 'insertText' || text === null || empty || state.readOnly || view.composing) return false;
  event.preventDefault();
  const insert = (): Transaction => state.update(state.replaceSelection(text), { userEvent: 'input.type', scrollIntoView: true });
  if (!state.facet(EditorView.inputHandler).some((handle) => handle(view, from, to, text, insert))) view.dispatch(insert());
  return true;
}

/** Runs, and closes the list of completions, which would cover the result. Returns true so that no other key binding applies. */
function runFrom(view: EditorView, run: () => void): true {
  closeCompletion(view);
  run();
  return true;
}
