import { field, mapFields, type WrongAdapter, wrong } from './wrong-adapter.js'

/** An update whose guard goes through `change` first, which is given the stored value. */
function misread(
  fault: string,
  found: readonly string[],
  change: (test: unknown, stored: unknown) => unknown,
): WrongAdapter {
  return wrong(fault, found, (right) => ({
    async update(id, guard, set) {
      const seen: object = (await right.get(id)) ?? {}
      const read = mapFields(guard, (test, name) => change(test, field(seen, name)))
      return right.update(id, read, set)
    },
  }))
}

function bound(test: unknown, name: 'gt' | 'lte'): number | null {
  const operand: unknown = typeof test === 'object' && test !== null ? field(test, name) : null
  return typeof operand === 'number' ? operand : null
}

function listOf(test: unknown): readonly unknown[] | null {
  const operand: unknown = typeof test === 'object' && test !== null ? field(test, 'in') : null
  return Array.isArray(operand) ? operand : null
}

export const wrongGuards: readonly WrongAdapter[] = [
  misread(
    'a guard whose undefined matches null',
    ['undefined in a guard rejects: it never matches, not even null'],
    (test) => test ?? null,
  ),
  misread(
    'a null guard that matches the empty text and zero as well',
    ['a guard of null equals only null', 'the empty text is not null'],
    (test, stored) => (test === null && (stored === '' || stored === 0) ? stored : test),
  ),
  misread(
    'a stored null that equals whatever it is compared with',
    ['a guard of a value never equals null'],
    (test, stored) => (stored === null && typeof test !== 'object' ? null : test),
  ),
  misread(
    'an `in` that looks at its first value only',
    ['a guard with `in` holds for any of its values'],
    (test) => {
      const list = listOf(test)
      return list && list.length > 0 ? { in: list.slice(0, 1) } : test
    },
  ),
  misread(
    'an empty `in` that holds for everything',
    ['a guard with an empty `in` holds for nothing'],
    (test, stored) => (listOf(test)?.length === 0 ? stored : test),
  ),
  misread(
    'an `in` that overlooks null, as SQL does',
    ['null among the values of `in` equals only null'],
    (test) => {
      const list = listOf(test)
      return list ? { in: list.filter((value) => value !== null) } : test
    },
  ),
  misread(
    'text compared without its quotes and blanks',
    ['awkward text is compared as it is'],
    (test, stored) => {
      const bare = (value: unknown) => String(value).replace(/[\s'"\\]/g, '')
      return typeof test === 'string' && bare(test) !== test ? bare(stored) : test
    },
  ),
  misread(
    '`gt` that includes its bound',
    ['a guard with `gt` holds strictly above its bound'],
    (test) => {
      const operand = bound(test, 'gt')
      return operand === null ? test : { gt: Math.max(Number.MIN_SAFE_INTEGER, operand - 1) }
    },
  ),
  misread(
    '`lte` that excludes its bound',
    ['a guard with `lte` holds at and below its bound'],
    (test) => {
      const operand = bound(test, 'lte')
      return operand === null ? test : { lte: operand - 1 }
    },
  ),
  misread(
    'a null that is less than any number',
    ['a bound never holds for null', 'a guard can test expiresAt'],
    (test, stored) => (stored === null && bound(test, 'lte') !== null ? null : test),
  ),
]
