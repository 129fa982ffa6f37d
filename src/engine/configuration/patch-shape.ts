/** What a patch looks like, for an error of a host's code. */
const patchShape =
  '{ config?, recordLists?, revision? }: texts by key, lists as { field, create?, remove? }, a whole revision'

const members = ['config', 'recordLists', 'revision']
const listMembers = ['field', 'create', 'remove']

/** Whether this has the shape of a `ConfigPatch`, which no compiler may have checked. */
export function isPatchShaped(given: unknown, isText = isString): boolean {
  if (!hasOnly(given, members)) return false
  const { config = {}, recordLists = [], revision } = given
  const isList = (list: unknown): boolean => isListChange(list, isText)
  return (
    (revision === undefined || Number.isSafeInteger(revision)) &&
    isObject(config) &&
    Object.values(config).every(isText) &&
    isListOf(recordLists, isList)
  )
}

/** For the public functions that take a patch. Throws a `TypeError` that names the argument and its form. */
export function assertPatchShape(name: string, given: unknown): void {
  if (isPatchShaped(given)) return
  throw new TypeError(`${name}: "patch" must be ${patchShape}`)
}

function isListChange(given: unknown, isText: typeof isString): boolean {
  if (!hasOnly(given, listMembers)) return false
  const { field, create = [], remove = [] } = given
  return isText(field) && isListOf(create, isText) && isListOf(remove, isText)
}

/** A list with a hole has nothing there, which `every` alone would pass by. */
function isListOf(given: unknown, isOne: (one: unknown) => boolean): boolean {
  return Array.isArray(given) && Array.from<unknown>(given).every((one) => isOne(one))
}

function isString(given: unknown): boolean {
  return typeof given === 'string'
}

function hasOnly(given: unknown, names: readonly string[]): given is Record<string, unknown> {
  return isObject(given) && Object.keys(given).every((name) => names.includes(name))
}

function isObject(given: unknown): given is Readonly<Record<string, unknown>> {
  // Neither a list nor a Map, in any realm.
  return Object.prototype.toString.call(given) === '[object Object]'
}
