import { describe } from 'vitest'
import { startedExample } from '../support/hosts/example-host.js'
import { probeExample } from '../support/hosts/example-probes.js'

describe.each(['express', 'fastify', 'hono', 'koa'])('examples/%s', (name) => {
  probeExample(startedExample(name))
})
