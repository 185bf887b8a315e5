import { customTypesCodec } from '../../metadata/custom-types.ts';
import { shareUnchanged } from '../../metadata/share.ts';
import { objectId } from '../../schema-cache/object-id.ts';
import { operation, type OperationGroup } from '../operation.ts';
import { BREAKS_OTHERS, INCONSISTENT, NAME_TAKEN } from '../operation-error.ts';

const set: OperationGroup = () => [
  operation({
    type: 'set_custom_types',
    args: customTypesCodec,
    changes: 'metadata',
    errors: [INCONSISTENT, NAME_TAKEN, BREAKS_OTHERS],
    documentation: {
      summary: 'Replaces all custom types, which actions use for arguments and results.',
      example: {
        input_objects: [{ name: 'Credentials', fields: [{ name: 'username', type: 'String!' }] }],
        objects: [
          {
            name: 'Login',
            fields: [
              { name: 'token', type: 'String!' },
              { name: 'author_id', type: 'Int!' },
            ],
            relationships: [{ name: 'author', type: 'object', remote_table: 'author', field_mapping: { author_id: 'id' } }],
          },
        ],
      },
    },
    edit: (metadata, types) => {
      const customTypes = shareUnchanged(metadata.customTypes, types);
      return customTypes === metadata.customTypes ? metadata : { ...metadata, customTypes };
    },
    edited: () => [objectId.customTypes()],
  }),
];

export const customTypeOperations: readonly OperationGroup[] = [set];
