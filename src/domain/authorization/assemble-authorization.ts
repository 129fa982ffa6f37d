import { loadPart } from '../../errors/index.js'
import type { Authorizer } from '../../ports/host.js'
import type { SurfaceContext } from '../context/surface-context.js'
import type { StepUp } from '../factors/step-up.js'
import type { Tokens } from '../sessions/tokens.js'
import { type Access, createAccess } from './access.js'
import type { Roles } from './roles.js'

export interface AuthorizationServices {
  readonly access: Access
  readonly roles: Roles
}

interface Collaborators {
  readonly authorizer: Authorizer
  readonly stepUp: StepUp
  readonly tokens: Tokens
}

export function assembleAuthorization(
  context: SurfaceContext,
  { authorizer, stepUp, tokens }: Collaborators,
): AuthorizationServices {
  return {
    access: createAccess({ ...context, authorizer, stepUp }, tokens),
    roles: rolesWhenUsed(context),
  }
}

/** Most processes read roles by their authorizer alone, and never change them. */
function rolesWhenUsed(context: SurfaceContext): Roles {
  const load = async () => {
    const { createRoles } = await loadPart('roles in code', () => import('./roles.js'))
    return createRoles(context)
  }
  return {
    define: async (...given) => (await load()).define(...given),
    delete: async (...given) => (await load()).delete(...given),
    list: async (...given) => (await load()).list(...given),
    bind: async (...given) => (await load()).bind(...given),
    unbind: async (...given) => (await load()).unbind(...given),
    unbindAll: async (...given) => (await load()).unbindAll(...given),
    bindingsOf: async (...given) => (await load()).bindingsOf(...given),
  }
}
