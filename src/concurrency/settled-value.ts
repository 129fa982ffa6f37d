/** What came of work that was waited for together with other work; throws what it rejected with. */
export function settledValue<T>(result: PromiseSettledResult<T>): T {
  if (result.status === 'rejected') throw result.reason
  return result.value
}
