import type { IncomingMessage } from 'node:http'
import type { Actor, Auth, Principal } from 'postern'
import { expressGuards } from 'postern/express'
import type { ConsolePermission } from './console-permissions.ts'

type Guard = ReturnType<ReturnType<typeof expressGuards>['requireUser']>

/** The guards of the console's routes. Each admits operators alone, by their access token. */
export interface OperatorGuards {
  /** For a route that shows something. */
  reads(permission: ConsolePermission): Guard
  /** For a route that changes something: wants a recent second factor as well. */
  changes(permission: ConsolePermission): Guard
  /** The caller that a guard admitted. */
  principalOf(request: IncomingMessage): Principal<'operator'>
  /** The same for the audit log. */
  actorOf(request: IncomingMessage): Actor
}

export function operatorGuards(auth: Auth): OperatorGuards {
  const { requirePermission, requireStepUp, principalOf } = expressGuards(auth.operator)
  return {
    reads: requirePermission,
    changes: (permission) => both(requirePermission(permission), requireStepUp()),
    principalOf,
    actorOf: (request) => ({
      actorId: principalOf(request).userId,
      ip: request.socket.remoteAddress,
      userAgent: request.headers['user-agent'],
    }),
  }
}

function both(first: Guard, second: Guard): Guard {
  return (request, response, next) =>
    first(request, response, (error) =>
      error === undefined ? second(request, response, next) : next(error),
    )
}
