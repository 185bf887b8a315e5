/** Marks the part of a document that a run would send. */
import { type Extension, RangeSetBuilder, StateField, type EditorState } from '@codemirror/state';
import { Decoration, type DecorationSet, EditorView } from '@codemirror/view';

/** Returns the part to mark for a cursor; undefined for none. */
export type RangeAt = (text: string, at: number) => { readonly from: number; readonly to: number } | undefined;

/** Maximum length of a document with marks, which are found again whenever the cursor moves. */
const MAX_LENGTH = 200_000;
const LINE = Decoration.line({ class: 'cm-running' });

export function runningRange(rangeAt: RangeAt): Extension {
  const decorationsOf = (state: EditorState): DecorationSet => {
    const { from, to } = state.selection.main;
    if (from !== to || state.doc.length > MAX_LENGTH) return Decoration.none;
    const range = rangeAt(state.doc.toString(), from);
    if (range === undefined) return Decoration.none;
    const builder = new RangeSetBuilder<Decoration>();
    for (let at = state.doc.lineAt(range.from).from; at <= range.to; at = state.doc.lineAt(at).to + 1) builder.add(at, at, LINE);
    return builder.finish();
  };
  return StateField.define<DecorationSet>({
    create: decorationsOf,
    update: (before, transaction) => (transaction.docChanged || transaction.selection ? decorationsOf(transaction.state) : before),
    provide: (field) => EditorView.decorations.from(field),
  });
}
