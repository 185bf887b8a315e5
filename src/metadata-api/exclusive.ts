const queues = new WeakMap<object, Promise<unknown>>();

/**
 * Runs tasks with the same `owner` one after the other. `State` runs single changes alone; this
 * keeps others from coming between the changes of one bulk.
 */
export function exclusively<T>(owner: object, task: () => Promise<T>): Promise<T> {
  const before = queues.get(owner) ?? Promise.resolve();
  const result = before.then(task, task);
  queues.set(owner, result);
  return result;
}
