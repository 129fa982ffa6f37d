// A Koa host with both surfaces and two routes of its own. examples/README.md says how to start it.
import { bodyParser } from '@koa/bodyparser'
import Koa, { type Context, type Middleware } from 'koa'
import { koaGuards, koaRouter } from 'postern/koa'
import { auth, port } from '../shared/auth.ts'
import { notFound, problemOf } from '../shared/problem.ts'
import { reportsFor, shareReports } from '../shared/reports.ts'
import { stopOnSignals } from '../shared/stop-on-signals.ts'

const client = koaGuards(auth.client)
const operator = koaGuards(auth.operator)

function send(context: Context, { status, headers, body }: ReturnType<typeof problemOf>): void {
  context.body = body
  context.status = status
  context.set(headers)
}

/** Two routes need no router package. With `@koa/router`, guards stand before the handler as here. */
function route(method: string, path: string, ...steps: readonly Middleware[]): Koa {
  for (const step of steps) {
    app.use((context, next) =>
      context.method === method && context.path === path ? step(context, next) : next(),
    )
  }
  return app
}

const app = new Koa()
app.use(async (context, next) => {
  try {
    await next()
    if (context.status === 404 && context.body == null) send(context, notFound())
  } catch (error) {
    send(context, problemOf(error))
  }
})
app.use(koaRouter(auth.metadata))
app.use(koaRouter(auth.both))

route('GET', '/reports', client.requirePermission('reports.read'), (context) => {
  context.body = reportsFor(client.principalOf(context).userId)
})

route(
  'POST',
  '/reports/readers',
  operator.requireUser(),
  bodyParser({ enableTypes: ['json'], jsonLimit: '64kb' }),
  // After the body, which a caller can hold back: whatever ended meanwhile is noticed.
  operator.requirePermission('reports.share'),
  operator.requireStepUp({ maxAge: '5m' }),
  async (context) => {
    await shareReports(context.request.body, operator.principalOf(context))
    context.status = 204
  },
)

const server = app.listen(port, () => console.log(`Listening on ${port}`))
stopOnSignals(server, () => new Promise((resolve) => server.close(resolve)))
