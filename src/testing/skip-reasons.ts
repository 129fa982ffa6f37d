import type { ConformanceCase } from './shared/conformance-case.js'

/**
 * The written reason for each skipped case, by its name. `skip` names cases or whole groups; a
 * name that is neither, or an empty reason, throws a `TypeError`: a skip must not outlive its case,
 * nor its reason.
 */
export function skipReasons(
  cases: readonly ConformanceCase[],
  skip: Readonly<Record<string, string>>,
): ReadonlyMap<string, string> {
  const reasons = new Map<string, string>()
  for (const [named, reason] of Object.entries(skip)) {
    const meant = cases.filter(({ name, group }) => name === named || group === named)
    if (meant.length === 0) {
      const groups = [...new Set(cases.map(({ group }) => group))].join(', ')
      throw new TypeError(`skip: "${named}" is neither a case nor a group (groups: ${groups})`)
    }
    if (typeof reason !== 'string' || reason.trim() === '') {
      throw new TypeError(`skip: "${named}" needs a written reason, such as why it cannot hold`)
    }
    for (const { name } of meant) reasons.set(name, reason)
  }
  return reasons
}
