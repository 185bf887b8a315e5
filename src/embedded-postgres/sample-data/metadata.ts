import type { Json, JsonObject } from '../../util/json.ts';
import { SAMPLE_TABLES } from './tables.ts';

const USER = 'X-Svc-User-Id';

/** Row filters by role and table; tables without one are fully visible. */
const ROW_FILTERS: Readonly<Record<string, Readonly<Record<string, JsonObject>>>> = {
  customer: {
    customer: { customer_id: { _eq: USER } },
    invoice: { customer_id: { _eq: USER } },
    invoice_line: { invoice: { customer_id: { _eq: USER } } },
    employee: { customers: { customer_id: { _eq: USER } } },
  },
  employee: {
    customer: { support_rep_id: { _eq: USER } },
    invoice: { customer: { support_rep_id: { _eq: USER } } },
    invoice_line: { invoice: { customer: { support_rep_id: { _eq: USER } } } },
    employee: { _or: [{ employee_id: { _eq: USER } }, { reports_to: { _eq: USER } }] },
  },
};

/** The `tables` of a source that track the whole store, with select permissions for the roles `customer` and `employee`. */
export function sampleTablesMetadata(): Json {
  return Object.entries(SAMPLE_TABLES).map(([name, table]) => ({
    table: named(name),
    object_relationships: table.references.map(({ column, object }) => ({ name: object, using: { foreign_key_constraint_on: column } })),
    array_relationships: Object.entries(SAMPLE_TABLES).flatMap(([other, { references }]) =>
      references
        .filter((reference) => reference.table === name)
        .map(({ column, array }) => ({ name: array, using: { foreign_key_constraint_on: { column, table: named(other) } } })),
    ),
    select_permissions: Object.entries(ROW_FILTERS).map(([role, filters]) => ({
      role,
      permission: { columns: Object.keys(table.columns), filter: filters[name] ?? {}, allow_aggregations: true },
    })),
  }));
}

function named(name: string): JsonObject {
  return { schema: 'public', name };
}
