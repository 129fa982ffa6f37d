// An Express host with both surfaces and two routes of its own. examples/README.md says how to start it.
import express, { type ErrorRequestHandler, type Response } from 'express'
import { expressGuards, expressRouter } from 'postern/express'
import { auth, port } from '../shared/auth.ts'
import { notFound, problemOf } from '../shared/problem.ts'
import { reportsFor, shareReports } from '../shared/reports.ts'
import { stopOnSignals } from '../shared/stop-on-signals.ts'

const client = expressGuards(auth.client)
const operator = expressGuards(auth.operator)

const app = express()
app.disable('x-powered-by')
app.use(expressRouter(auth.metadata))
app.use(expressRouter(auth.both))

app.get('/reports', client.requirePermission('reports.read'), (request, response) => {
  response.json(reportsFor(client.principalOf(request).userId))
})

app.post(
  '/reports/readers',
  operator.requireUser(),
  express.json({ limit: '64kb' }),
  // After the body, which a caller can hold back: whatever ended meanwhile is noticed.
  operator.requirePermission('reports.share'),
  operator.requireStepUp({ maxAge: '5m' }),
  async (request, response) => {
    await shareReports(request.body, operator.principalOf(request))
    response.status(204).end()
  },
)

const send = (response: Response, { status, headers, body }: ReturnType<typeof problemOf>) =>
  response.status(status).set(headers).send(body)

app.use((_request, response) => {
  send(response, notFound())
})

const answerError: ErrorRequestHandler = (error, _request, response, next) => {
  if (response.headersSent) next(error)
  else send(response, problemOf(error))
}
app.use(answerError)

const server = app.listen(port, (error) => {
  if (error) throw error
  console.log(`Listening on ${port}`)
})
stopOnSignals(server, () => new Promise((resolve) => server.close(resolve)))
