import type { Condition } from '../../src/checks/check-write.js'

/** What the text of the tests depends on: conditions of one form differ in nothing but their values. */
export function formOf(conditions: readonly Condition[]): string {
  let form = ''
  for (const condition of conditions) {
    form += ` ${condition.column.name}:${condition.form}${asksForNull(condition) ? '?' : ''}`
  }
  return form
}

export function asksForNull(condition: Condition): boolean {
  if (condition.form === 'in') return condition.values.includes(null)
  return condition.form === 'equals' && condition.value === null
}
