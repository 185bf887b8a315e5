/** The GraphQL schema of a role, cut down to what documents use. */
import type { DocumentNode } from 'graphql';
import { SvcError } from '../../errors/svc-error.ts';
import { parseDocument } from '../../graphql-engine/document.ts';
import { DEFAULT_LIMITS } from '../../graphql-engine/engine.ts';
import { createTypeData } from '../../graphql-engine/introspection/type-data.ts';
import { cutSchema, DEFAULT_INPUT_DEPTH, MAX_INPUT_DEPTH } from '../../graphql-engine/schema-cut/cut-schema.ts';
import { defaulted, flag, list, nonEmptyText, nonNegativeInt, object, required, text } from '../../metadata/codec.ts';
import { type Cooperative, runCooperatively } from '../../util/cooperative.ts';
import type { Json } from '../../util/json.ts';
import { at, type Path } from '../../util/path.ts';
import { operation, type OperationGroup } from '../operation.ts';
import { refused } from '../operation-error.ts';

const getSchemaPart: OperationGroup = () => [
  operation({
    type: 'get_schema_part',
    args: object('GetSchemaPart', {
      role: required(nonEmptyText),
      documents: required(list(text)),
      inputDepth: defaulted(nonNegativeInt('input_depth', MAX_INPUT_DEPTH), () => DEFAULT_INPUT_DEPTH),
      backendOnly: flag,
      allMembers: flag,
    }),
    changes: 'nothing',
    errors: [
      refused('validation-failed', 'a document is not valid GraphQL, or has more than 50,000 tokens'),
      refused('not-supported', 'introspection is disabled for the role'),
    ],
    documentation: {
      summary: 'Returns the part of the GraphQL schema of a role that documents use, as the answer to an introspection query.',
      details: `\`documents\` are operations and fragments. The answer, \`{"__schema": …}\`, is a schema against which they are valid. Parts of the documents that the role does not have are skipped, not rejected.

\`input_depth\` limits the levels of related input objects below the types of variables, from 0 to ${MAX_INPUT_DEPTH}. Default: ${DEFAULT_INPUT_DEPTH}. \`backend_only\` adds what \`backend_only\` permissions allow. With \`all_members\`, the types have all their members, those that are not used with the type \`String\`: for messages that suggest a member. The command \`svc schema\` uses this operation.`,
      example: { role: 'user', documents: ['query ($where: article_bool_exp) { article(where: $where) { id } }'] },
    },
    async run({ role, documents, inputDepth, backendOnly, allMembers }, { snapshot, signal, path }) {
      const variant = backendOnly ? 'backend' : 'frontend';
      if (snapshot.roleSchema(role, variant).introspectionDisabled)
        throw new SvcError('not-supported', `introspection is disabled for role: "${role}"`);
      const checkCancelled = () => {
        if (signal?.aborted === true) throw new SvcError('timeout', 'the client disconnected');
      };
      const parsed = await runCooperatively(parseAll(documents, at(path, 'documents')), checkCancelled);
      const types = createTypeData(snapshot.wholeRoots(role, variant));
      const { cut, forValidation } = await cutSchema(types, parsed, inputDepth, checkCancelled);
      return (allMembers ? await forValidation() : cut) as unknown as Json;
    },
  }),
];

/** @throws SvcError validation-failed */
function* parseAll(documents: readonly string[], path: Path): Cooperative<readonly DocumentNode[]> {
  const parsed: DocumentNode[] = [];
  for (const [i, document] of documents.entries()) {
    try {
      parsed.push(parseDocument(document, DEFAULT_LIMITS.maxTokens));
    } catch (thrown) {
      throw thrown instanceof SvcError ? thrown.withPath(at(path, i)) : thrown;
    }
    yield;
  }
  return parsed;
}

export const roleSchemaOperations: readonly OperationGroup[] = [getSchemaPart];
