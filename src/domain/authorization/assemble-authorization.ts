import type { Authorizer } from '../../ports/authorizer.js'
import type { SurfaceContext } from '../context/surface-context.js'
import type { StepUp } from '../factors/step-up.js'
import type { Tokens } from '../sessions/tokens.js'
import { type Access, createAccess } from './access.js'
import { createRoles, type Roles } from './roles.js'

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
    roles: createRoles(context),
  }
}
