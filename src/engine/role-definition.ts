import { isStorable } from './is-storable.js'

const maxPermissions = 200

/**
 * The problem of a role's name or permissions, as a sentence for the developer; null for a correct
 * role.
 */
export function roleProblem(name: unknown, permissions: unknown): string | null {
  if (!isStorable(name) || !/^\S(.{0,98}\S)?$/su.test(name)) {
    return 'name must be a text of 1 to 100 characters without white space around it.'
  }
  if (!Array.isArray(permissions) || permissions.length > maxPermissions) {
    return `permissions must be an array of at most ${maxPermissions} keys.`
  }
  const odd = permissions.some((key) => !isStorable(key) || !/^[^\s*]{1,100}$/u.test(key))
  if (!odd) return null
  return 'permissions must be keys of 1 to 100 characters without white space. There are no wildcards: name each key.'
}
