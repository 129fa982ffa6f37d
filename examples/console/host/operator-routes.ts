import express, { Router } from 'express'
import { type Auth, AuthError } from 'postern'
import { answerErrors } from './answer-errors.ts'
import { auditRoutes } from './audit-routes.ts'
import { operatorGuards } from './operator-guards.ts'
import { registrationRoutes } from './registration-routes.ts'
import { bindingRoutes, roleRoutes } from './role-routes.ts'
import { sessionRoutes } from './session-routes.ts'
import type { StatusMetrics } from './status-metrics.ts'
import { statusRoutes } from './status-routes.ts'
import { userRoutes } from './user-routes.ts'

/**
 * What the operator pages ask of this host, beside the library's routes: JSON for operators with an access
 * token. Cookies count for nothing here, so no page of another site can have a browser call it.
 */
export function operatorRoutes(auth: Auth, metrics: StatusMetrics): Router {
  const guards = operatorGuards(auth)
  const routes = [
    userRoutes,
    sessionRoutes,
    roleRoutes,
    bindingRoutes,
    registrationRoutes,
    auditRoutes,
  ]
  return Router()
    .use((_request, response, next) => {
      response.set({ 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' })
      next()
    })
    .use(express.json({ limit: '16kb' }), ...routes.map((make) => make(auth, guards)))
    .use(statusRoutes(metrics, guards))
    .use(() => {
      throw new AuthError('not_found')
    })
    .use(answerErrors)
}
