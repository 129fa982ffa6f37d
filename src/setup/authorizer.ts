import { defaultAuthorizer } from '../domain/authorization/role-authorizer.js'
import { createHeldRoles } from '../domain/authorization/roles.js'
import { openCollections } from '../domain/context/open-collections.js'
import { OptionsError } from '../errors/index.js'
import { MODULE_CONFIG_PERMISSIONS } from '../model/permissions.js'
import type { AuthOptions } from '../options.js'
import type { Authorizer } from '../ports/host.js'
import type { Store } from '../ports/store.js'

/**
 * The host's authorizer, asked by the names the host gave the permissions. Throws an `OptionsError`
 * when a function given for one made none.
 */
export function authorizerOf(
  { authorizer = defaultAuthorizer, permissions = {} }: AuthOptions,
  store: Store,
  prefix: string,
): Authorizer {
  if (typeof authorizer !== 'function') return withNames(authorizer, permissions)
  const roles = createHeldRoles({
    operator: openCollections(store, 'operator', prefix),
    client: openCollections(store, 'client', prefix),
  })
  const made = authorizer(roles)
  if (typeof made?.check === 'function') return withNames(made, permissions)
  throw new OptionsError(
    'authorizer',
    'is a function that must return an object with the method check',
  )
}

function withNames(
  authorizer: Authorizer,
  { modulesRead, modulesManage }: NonNullable<AuthOptions['permissions']>,
): Authorizer {
  const names = new Map<string, string | undefined>([
    [MODULE_CONFIG_PERMISSIONS.read, modulesRead],
    [MODULE_CONFIG_PERMISSIONS.manage, modulesManage],
  ])
  return {
    check: (question) =>
      authorizer.check({
        ...question,
        permission: names.get(question.permission) ?? question.permission,
      }),
  }
}
