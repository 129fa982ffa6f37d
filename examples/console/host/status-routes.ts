import { Router } from 'express'
import type { OperatorGuards } from './operator-guards.ts'
import type { StatusMetrics } from './status-metrics.ts'
import type { StatusReply } from './status-reply.ts'

/** The figures of this process. */
export function statusRoutes(metrics: StatusMetrics, guards: OperatorGuards): Router {
  const router = Router()
  router.get('/status', guards.reads('console.status.read'), async (_request, response) => {
    response.json((await metrics.read()) satisfies StatusReply)
  })
  return router
}
