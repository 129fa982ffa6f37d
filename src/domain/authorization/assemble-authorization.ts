import type { Authorizer } from '../../ports/authorizer.js'
import type { SurfaceContext } from '../context/surface-context.js'
import type { Tokens } from '../sessions/tokens.js'
import { type Access, createAccess } from './access.js'
import { createRoles, type Roles } from './roles.js'

export interface AuthorizationServices {
  readonly access: Access
  readonly roles: Roles
}

export function assembleAuthorization(
  context: SurfaceContext,
  { authorizer, tokens }: { readonly authorizer: Authorizer; readonly tokens: Tokens },
): AuthorizationServices {
  return {
    access: createAccess({ ...context, authorizer }, tokens),
    roles: createRoles(context),
  }
}
