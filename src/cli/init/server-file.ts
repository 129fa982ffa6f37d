import type { Framework } from './choices.js'

const start = `const auth = await createAuth(options)
await auth.migrate()

const port = Number(process.env['PORT'] ?? 3000)
// The page that mails and postern create-operator link to.
const page = await readFile(new URL('pages/reset-password.html', import.meta.url), 'utf8')
const pagePaths = ['/reset-password', '/operator/reset-password']
`

const files: Readonly<Record<Framework, string>> = {
  express: `import { readFile } from 'node:fs/promises'
import express from 'express'
import { createAuth } from 'postern'
import { expressGuards, expressRouter } from 'postern/express'
import options from './postern.config.ts'

${start}const operator = expressGuards(auth.operator)
const client = expressGuards(auth.client)

const app = express()
app.use(expressRouter(auth.both))
app.get(pagePaths, (_request, response) => {
  response.type('html').send(page)
})
// Routes of your own: for operators who are signed in, …
app.get('/hello', operator.requireUser(), (request, response) => {
  response.json({ hello: operator.principalOf(request).userId })
})
// … for customers, …
app.get('/me', client.requireUser(), (request, response) => {
  response.json({ me: client.principalOf(request).userId })
})
// … and for service accounts and operators whose role grants the permission.
app.get('/reports', operator.requirePermission('reports.read'), (request, response) => {
  response.json({ for: operator.principalOf(request).userId })
})

app.listen(port, () => console.log(\`http://localhost:\${port}\`))
`,
  fastify: `import { readFile } from 'node:fs/promises'
import fastify from 'fastify'
import { createAuth } from 'postern'
import { fastifyGuards, fastifyRouter } from 'postern/fastify'
import options from './postern.config.ts'

${start}const operator = fastifyGuards(auth.operator)
const client = fastifyGuards(auth.client)

// Fastify turns off Node's own bound, which ends requests that come too slowly.
const app = fastify({ requestTimeout: 300_000 })
app.register(fastifyRouter(auth.both))
for (const path of pagePaths) {
  app.get(path, async (_request, reply) => reply.type('text/html; charset=utf-8').send(page))
}
// Routes of your own: for operators who are signed in, …
app.get('/hello', { onRequest: operator.requireUser() }, async (request) => ({
  hello: operator.principalOf(request).userId,
}))
// … for customers, …
app.get('/me', { onRequest: client.requireUser() }, async (request) => ({
  me: client.principalOf(request).userId,
}))
// … and for service accounts and operators whose role grants the permission.
app.get('/reports', { onRequest: operator.requirePermission('reports.read') }, async (request) => ({
  for: operator.principalOf(request).userId,
}))

await app.listen({ port })
console.log(\`http://localhost:\${port}\`)
`,
  koa: `import { readFile } from 'node:fs/promises'
import Koa from 'koa'
import { createAuth } from 'postern'
import { koaGuards, koaRouter } from 'postern/koa'
import options from './postern.config.ts'

${start}const operator = koaGuards(auth.operator)
const client = koaGuards(auth.client)

const app = new Koa()
app.use(koaRouter(auth.both))
app.use(async (context, next) => {
  if (!pagePaths.includes(context.path)) return next()
  context.type = 'html'
  context.body = page
})
// Routes of your own: for operators who are signed in, for customers, and for service accounts and operators whose
// role grants the permission.
const [hello, me] = [operator.requireUser(), client.requireUser()]
const reports = operator.requirePermission('reports.read')
app.use(async (context, next) => {
  if (context.path === '/hello')
    return hello(context, async () => {
      context.body = { hello: operator.principalOf(context).userId }
    })
  if (context.path === '/me')
    return me(context, async () => {
      context.body = { me: client.principalOf(context).userId }
    })
  if (context.path !== '/reports') return next()
  return reports(context, async () => {
    context.body = { for: operator.principalOf(context).userId }
  })
})

app.listen(port, () => console.log(\`http://localhost:\${port}\`))
`,
  hono: `import { readFile } from 'node:fs/promises'
import { serve } from '@hono/node-server'
import { getConnInfo } from '@hono/node-server/conninfo'
import { Hono, type MiddlewareHandler } from 'hono'
import { createAuth } from 'postern'
import { fetchGuards, fetchHandler } from 'postern/fetch'
import options from './postern.config.ts'

${start}const operator = fetchGuards(auth.operator)
const client = fetchGuards(auth.client)

type Answer = (request: Request, from: { remoteAddress: string }) => Promise<Response | null>
// The library's handlers and guards answer with null to go on.
const step = (answer: Answer): MiddlewareHandler => async (context, next) => {
  const remoteAddress = getConnInfo(context).remote.address ?? ''
  return (await answer(context.req.raw, { remoteAddress })) ?? next()
}

const app = new Hono()
app.use(step(fetchHandler(auth.both)))
for (const path of pagePaths) app.get(path, (context) => context.html(page))
// Routes of your own: for operators who are signed in, …
app.get('/hello', step(operator.requireUser()), (context) =>
  context.json({ hello: operator.principalOf(context.req.raw).userId }),
)
// … for customers, …
app.get('/me', step(client.requireUser()), (context) =>
  context.json({ me: client.principalOf(context.req.raw).userId }),
)
// … and for service accounts and operators whose role grants the permission.
app.get('/reports', step(operator.requirePermission('reports.read')), (context) =>
  context.json({ for: operator.principalOf(context.req.raw).userId }),
)

serve({ fetch: app.fetch, port }, () => console.log(\`http://localhost:\${port}\`))
`,
}

/** The host: both surfaces, the page behind the links, and guarded routes to copy. */
export function serverFile(framework: Framework): string {
  return files[framework]
}
