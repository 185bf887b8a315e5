/** Tokenizer for GraphQL documents, in the editors and on the pages of the documentation. */
import { StreamLanguage } from '@codemirror/language';

export const graphqlLanguage = StreamLanguage.define<{ block: boolean }>({
  name: 'graphql',
  startState: () => ({ block: false }),
  token(stream, state) {
    if (state.block) {
      if (stream.skipTo('"""')) {
        stream.match('"""');
        state.block = false;
      } else stream.skipToEnd();
      return 'string';
    }
    if (stream.eatSpace()) return null;
    if (stream.match(/#.*/)) return 'comment';
    if (stream.match('"""')) {
      state.block = true;
      return 'string';
    }
    if (stream.match(/"(?:[^"\\]|\\.)*"?/)) return 'string';
    if (stream.match(/\$\w+/)) return 'variableName';
    if (stream.match(/@\w+/)) return 'meta';
    if (stream.match(/-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/)) return 'number';
    if (stream.match(/(?:query|mutation|subscription|fragment|on)\b/)) return 'keyword';
    if (stream.match(/(?:true|false|null)\b/)) return 'atom';
    if (stream.match(/[A-Za-z_]\w*(?=\s*:)/)) return 'propertyName';
    if (stream.match(/[A-Za-z_]\w*/)) return null;
    stream.next();
    return 'punctuation';
  },
  languageData: { commentTokens: { line: '#' }, closeBrackets: { brackets: ['(', '[', '{', '"'] } },
});
