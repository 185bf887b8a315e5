import type { ComponentChildren } from 'preact';
import { overview } from '../../api/overview.ts';
import { useResource } from '../../api/use-resource.ts';
import { ANYTHING, type FilterNode, switched, textOfValue, unwrapped, valueOfText, wrapped } from '../../model/filter-tree.ts';
import { printJson } from '../../model/json.ts';
import { type TableOverview, tableId, tableJson } from '../../model/overview.ts';
import { variableHeader } from '../../model/persona.ts';
import { labelOf } from '../../model/steps.ts';
import { Button } from '../../parts/button.tsx';
import { Combobox } from '../../parts/combobox.tsx';
import { Menu, type MenuItem } from '../../parts/menu.tsx';
import { relationsOf, type Scope, scopeOf, tableNamed } from './scope.ts';

/** Operators that every kind of database has. Others can be typed; the service rejects those that it does not have. */
const OPERATORS = ['_eq', '_neq', '_gt', '_gte', '_lt', '_lte', '_in', '_nin', '_is_null'];
const TEXT_OPERATORS = ['_like', '_nlike', '_ilike', '_nilike', '_similar', '_regex', '_iregex'];
const COLUMN_OPERATORS = ['_ceq', '_cne', '_cgt', '_cgte', '_clt', '_clte'];
const TEXTS = /^(?:text|varchar|bpchar|char|citext|name|longtext|mediumtext|tinytext)/;

interface BuilderProps {
  readonly node: FilterNode;
  readonly table: TableOverview | undefined;
  /** Session variables to offer, without `X-Svc-`. */
  readonly variables: readonly string[];
  readonly isReadOnly: boolean;
  onChange(node: FilterNode): void;
}

/** A condition as a tree. Parts that it has no controls for are kept as they are. */
export function FilterBuilder(props: BuilderProps) {
  const { node, table, isReadOnly, onChange } = props;
  const scope = useScope(table);
  const isGroup = node.kind === 'all' || node.kind === 'any' || node.kind === 'not';
  /** Puts a single condition into a group with a new blank one. */
  const join = (around: 'all' | 'any'): void => {
    const group = wrapped(node, around);
    if (group.kind === 'all' || group.kind === 'any') onChange({ ...group, children: [...group.children, blankTest(scope)] });
  };
  return (
    <div class="filter-tree stack-tight">
      <Node {...props} path="condition" onRemove={isGroup ? undefined : () => onChange(ANYTHING)} />
      {!isGroup && !isReadOnly && (
        <div class="row-tight">
          <Button small icon="plus" name="Add AND condition" onClick={() => join('all')}>
            and
          </Button>
          <Button small icon="plus" name="Add OR condition" onClick={() => join('any')}>
            or
          </Button>
        </div>
      )}
    </div>
  );
}

function blankTest(scope: Scope | undefined): FilterNode {
  return { kind: 'test', column: scope?.info.primaryKey[0] ?? scope?.info.columns[0]?.name ?? '', tests: [['_eq', '']] };
}

interface NodeProps extends BuilderProps {
  /** Prefix of the accessible names of the controls. */
  readonly path: string;
  readonly onRemove: (() => void) | undefined;
}

function useScope(table: TableOverview | undefined): Scope | undefined {
  const { value } = useResource(
    async () => (table === undefined ? undefined : scopeOf(table)),
    table === undefined ? '' : `${overview.value?.version} ${table.source} ${tableId(table)}`,
  );
  return value;
}

function Node(props: NodeProps) {
  const { node, path, onChange, isReadOnly } = props;
  switch (node.kind) {
    case 'all':
    case 'any':
    case 'not':
      return <Group {...props} node={node} />;
    case 'exists':
      return <Exists {...props} node={node} />;
    case 'relation':
      return <Relation {...props} node={node} />;
    case 'raw':
      return (
        <div class="row-tight">
          <code class="grow">{printJson(node.key === null ? node.json : { [node.key]: node.json })}</code>
          <span class="muted small">edit as JSON</span>
          <NodeMenu {...props} />
        </div>
      );
    case 'test':
      return (
        <>
          {node.tests.map((test, index) => (
            <Test
              {...props}
              key={index}
              column={node.column}
              test={test}
              onColumn={(column) => onChange({ ...node, column })}
              onTest={(next) => onChange({ ...node, tests: node.tests.with(index, next) })}
            >
              {index === 0 && <NodeMenu {...props} />}
              {index === 0 && props.onRemove !== undefined && !isReadOnly && (
                <Button small kind="quiet" icon="cross" name={`Remove ${path}`} onClick={props.onRemove} />
              )}
            </Test>
          ))}
        </>
      );
  }
}

type NodeOf<K extends FilterNode['kind']> = NodeProps & { readonly node: Extract<FilterNode, { kind: K }> };

function NodeMenu({ node, path, isReadOnly, onChange, onRemove, extra = [] }: NodeProps & { readonly extra?: readonly MenuItem[] }) {
  if (isReadOnly) return null;
  return (
    <Menu
      small
      kind="quiet"
      icon="more"
      name={`More actions for ${path}`}
      items={[
        { label: 'Wrap in ALL of', run: () => onChange(wrapped(node, 'all')) },
        { label: 'Wrap in ANY of', run: () => onChange(wrapped(node, 'any')) },
        { label: 'Wrap in NOT', run: () => onChange(wrapped(node, 'not')) },
        ...extra,
        ...(onRemove === undefined ? [] : [{ label: 'Remove', danger: true, icon: 'trash' as const, run: onRemove }]),
      ]}
    />
  );
}

function Group(props: NodeOf<'all' | 'any' | 'not'>) {
  const { node, path, onChange, onRemove, isReadOnly } = props;
  const scope = useScope(props.table);
  const inner = unwrapped(node);
  const isEmpty = node.kind === 'all' && node.children.length === 0;
  return (
    <div class="filter-group" role="group" aria-label={path}>
      <div class="row-tight">
        {isEmpty && onRemove === undefined ? (
          <span class="muted">All rows (no condition)</span>
        ) : (
          <select
            class="select input-small"
            aria-label={`Group operator of ${path}`}
            disabled={isReadOnly}
            value={node.kind}
            onChange={(event) => onChange(switched(node, event.currentTarget.value as 'all' | 'any' | 'not'))}
          >
            <option value="all">ALL of</option>
            <option value="any">ANY of</option>
            <option value="not">NOT</option>
          </select>
        )}
        <NodeMenu {...props} extra={inner === undefined ? [] : [{ label: 'Unwrap', run: () => onChange(inner) }]} />
      </div>
      <div class="filter-indent">
        {node.kind === 'not' ? (
          <Node
            {...props}
            node={node.child}
            path={`${path}, negated`}
            onChange={(child) => onChange({ ...node, child })}
            onRemove={() => onChange(ANYTHING)}
          />
        ) : (
          <>
            {node.children.map((child, index) => (
              <Node
                {...props}
                key={index}
                node={child}
                path={`${path}, part ${index + 1}`}
                onChange={(next) => onChange({ ...node, children: node.children.with(index, next) })}
                onRemove={() => onChange({ ...node, children: node.children.toSpliced(index, 1) })}
              />
            ))}
            {!isReadOnly && <Add scope={scope} path={path} onAdd={(child) => onChange({ ...node, children: [...node.children, child] })} />}
          </>
        )}
      </div>
    </div>
  );
}

function Exists(props: NodeOf<'exists'>) {
  const { node, path, onChange, table } = props;
  const { value: data } = overview;
  const target = data === undefined || table === undefined ? undefined : tableNamed(data, table, node.table);
  const tables = data?.sources.find(({ name }) => name === table?.source)?.tables ?? [];
  return (
    <div class="filter-group" role="group" aria-label={path}>
      <div class="row-tight">
        <span class="muted">exists row in</span>
        <Combobox
          small
          name={`Table of ${path}`}
          value={labelOf(node.table)}
          options={tables.map((each) => ({ value: tableId(each) }))}
          strict
          onChange={(id) => {
            const chosen = tables.find((each) => tableId(each) === id);
            if (chosen !== undefined) onChange({ ...node, table: tableJson(chosen) });
          }}
        />
        <NodeMenu {...props} />
      </div>
      <Child {...props} table={target} node={node.child} path={`${path}, its row`} onChange={(child) => onChange({ ...node, child })} />
    </div>
  );
}

function Relation(props: NodeOf<'relation'>) {
  const { node, path, onChange } = props;
  const scope = useScope(props.table);
  const { value: data } = overview;
  const relations = scope === undefined || data === undefined ? [] : relationsOf(scope, data);
  const target = relations.find(({ name }) => name === node.name)?.target;
  return (
    <div class="filter-group" role="group" aria-label={path}>
      <div class="row-tight">
        <Combobox
          small
          name={`Relationship of ${path}`}
          value={node.name}
          invalid={scope !== undefined && !relations.some(({ name }) => name === node.name)}
          options={relations.map(({ name, target: to }) => ({ value: name, ...(to === undefined ? {} : { note: tableId(to) }) }))}
          onChange={(name) => onChange({ ...node, name })}
        />
        <span class="muted">›</span>
        <NodeMenu {...props} />
      </div>
      <Child {...props} table={target} node={node.child} path={`${path} ${node.name}`} onChange={(child) => onChange({ ...node, child })} />
    </div>
  );
}

/** The condition on the rows of another table; it cannot be removed on its own. */
function Child(props: NodeProps) {
  return (
    <div class="filter-indent">
      <Node {...props} onRemove={undefined} />
    </div>
  );
}

type ColumnTest = Extract<FilterNode, { kind: 'test' }>['tests'][number];

interface TestProps extends NodeProps {
  readonly column: string;
  readonly test: ColumnTest;
  readonly children: ComponentChildren;
  onColumn(column: string): void;
  onTest(test: ColumnTest): void;
}

/** Column, operator and value. */
function Test({ table, path, variables, column: name, test: [operator, value], children, onColumn, onTest }: TestProps) {
  const scope = useScope(table);
  const columns = scope?.info.columns ?? [];
  const column = columns.find((each) => each.name === name);
  const type = column?.type ?? '';
  const shownOperator = operator ?? '_eq';
  const operators = [...OPERATORS, ...(TEXTS.test(type) ? TEXT_OPERATORS : []), ...COLUMN_OPERATORS];
  return (
    <div class="row-tight filter-test" role="group" aria-label={path}>
      <Combobox
        small
        size={14}
        name={`Column of ${path}`}
        value={name}
        invalid={scope !== undefined && column === undefined}
        options={columns.map((each) => ({ value: each.name, note: each.type }))}
        onChange={onColumn}
      />
      <Combobox
        small
        size={8}
        name={`Operator of ${path}`}
        value={shownOperator}
        options={operators.map((each) => ({ value: each }))}
        onChange={(next) => onTest([next, next === '_is_null' ? true : value])}
      />
      {shownOperator === '_is_null' ? (
        <select
          class="select input-small"
          aria-label={`Value of ${path}`}
          value={String(value)}
          onChange={(event) => onTest([operator, event.currentTarget.value === 'true'])}
        >
          <option>true</option>
          <option>false</option>
        </select>
      ) : (
        <Combobox
          small
          size={18}
          name={`Value of ${path}`}
          value={textOfValue(value)}
          options={
            COLUMN_OPERATORS.includes(shownOperator)
              ? columns.map((each) => ({ value: each.name }))
              : variables.map((each) => ({ value: variableHeader(each), note: 'session' }))
          }
          onChange={(text) => onTest([operator, valueOfText(text, type, shownOperator)])}
        />
      )}
      {children}
    </div>
  );
}

/** Adds a condition to a group. */
function Add({ scope, path, onAdd }: { readonly scope: Scope | undefined; readonly path: string; onAdd(node: FilterNode): void }) {
  const { value: data } = overview;
  const relations = scope === undefined || data === undefined ? [] : relationsOf(scope, data);
  return (
    <div class="row-tight">
      <Button small icon="plus" name={`Add condition to ${path}`} onClick={() => onAdd(blankTest(scope))}>
        Condition
      </Button>
      <Menu
        small
        kind="quiet"
        icon="down"
        name={`Add relationship or group to ${path}`}
        items={[
          ...relations.map(
            ({ name }): MenuItem => ({
              label: `Relationship ${name}`,
              icon: 'link',
              run: () => onAdd({ kind: 'relation', name, child: ANYTHING }),
            }),
          ),
          { label: 'ALL of …', run: () => onAdd({ kind: 'all', key: '_and', children: [] }) },
          { label: 'ANY of …', run: () => onAdd({ kind: 'any', key: '_or', children: [] }) },
          { label: 'NOT …', run: () => onAdd({ kind: 'not', key: '_not', child: ANYTHING }) },
          {
            label: 'EXISTS row in …',
            run: () =>
              onAdd({
                kind: 'exists',
                key: '_exists',
                table: scope === undefined ? '' : tableJson(scope.table),
                child: ANYTHING,
                rest: {},
              }),
          },
        ]}
      />
    </div>
  );
}
