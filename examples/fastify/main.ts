// A Fastify host with both surfaces and two routes of its own. examples/README.md says how to start it.
import fastify from 'fastify'
import { fastifyGuards, fastifyRouter } from 'postern/fastify'
import { auth, port } from '../shared/auth.ts'
import { notFound, problemOf } from '../shared/problem.ts'
import { reportsFor, shareReports } from '../shared/reports.ts'
import { stopOnSignals } from '../shared/stop-on-signals.ts'

const client = fastifyGuards(auth.client)
const operator = fastifyGuards(auth.operator)

// Fastify turns off Node's own bound, which ends requests that come too slowly.
const app = fastify({ bodyLimit: 64 * 1024, requestTimeout: 300_000 })
app.register(fastifyRouter(auth.metadata))
app.register(fastifyRouter(auth.both))

app.get('/reports', { onRequest: client.requirePermission('reports.read') }, async (request) =>
  reportsFor(client.principalOf(request).userId),
)

app.post(
  '/reports/readers',
  {
    onRequest: operator.requireUser(),
    // After the body, which a caller can hold back: whatever ended meanwhile is noticed.
    preHandler: [
      operator.requirePermission('reports.share'),
      operator.requireStepUp({ maxAge: '5m' }),
    ],
  },
  async (request, reply) => {
    await shareReports(request.body, operator.principalOf(request))
    return reply.code(204).send()
  },
)

app.setNotFoundHandler((_request, reply) => {
  const { status, headers, body } = notFound()
  return reply.code(status).headers(headers).send(body)
})

app.setErrorHandler((error, _request, reply) => {
  const { status, headers, body } = problemOf(error)
  return reply.code(status).headers(headers).send(body)
})

// Fastify listens on localhost unless told otherwise.
await app.listen({ port, host: '0.0.0.0' })
console.log(`Listening on ${port}`)
stopOnSignals(app.server, () => app.close())
