// A Hono host on Node with both surfaces and two routes of its own. examples/README.md says how to start it.
import { createServer } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import { getConnInfo } from '@hono/node-server/conninfo'
import { type Context, Hono, type MiddlewareHandler } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { AuthError } from 'postern'
import { fetchGuards, fetchHandler } from 'postern/fetch'
import { auth, port } from '../shared/auth.ts'
import { notFound, problemOf } from '../shared/problem.ts'
import { reportsFor, shareReports } from '../shared/reports.ts'
import { stopOnSignals } from '../shared/stop-on-signals.ts'

const client = fetchGuards(auth.client)
const operator = fetchGuards(auth.operator)

/** Without the peer's address, all requests would share one rate limit. */
function from(context: Context): { readonly remoteAddress: string } {
  return { remoteAddress: getConnInfo(context).remote.address ?? '' }
}

/** The library's handlers and guards answer with null to go on. */
function step(
  answer: (request: Request, context: { remoteAddress: string }) => Promise<Response | null>,
): MiddlewareHandler {
  return async (context, next) => (await answer(context.req.raw, from(context))) ?? next()
}

const respond = ({ status, headers, body }: ReturnType<typeof problemOf>) =>
  new Response(body, { status, headers })

const app = new Hono()
app.use(step(fetchHandler(auth.metadata)))
app.use(step(fetchHandler(auth.both)))

app.get('/reports', step(client.requirePermission('reports.read')), (context) =>
  context.json(reportsFor(client.principalOf(context.req.raw).userId)),
)

app.post(
  '/reports/readers',
  step(operator.requireUser()),
  bodyLimit({
    maxSize: 64 * 1024,
    onError: () => respond(problemOf(new AuthError('payload_too_large'))),
  }),
  // Hono keeps what is read here for the handler.
  async (context, next) => {
    await context.req.arrayBuffer()
    await next()
  },
  // After the body, which a caller can hold back: whatever ended meanwhile is noticed.
  step(operator.requirePermission('reports.share')),
  step(operator.requireStepUp({ maxAge: '5m' })),
  async (context) => {
    const body: unknown = await context.req.json().catch(() => null)
    await shareReports(body, operator.principalOf(context.req.raw))
    return context.body(null, 204)
  },
)

app.notFound(() => respond(notFound()))
app.onError((error) => respond(problemOf(error)))

const answer = getRequestListener(app.fetch)
const server = createServer((request, response) => void answer(request, response))
server.listen(port, () => console.log(`Listening on ${port}`))
stopOnSignals(server, () => new Promise((resolve) => server.close(resolve)))
