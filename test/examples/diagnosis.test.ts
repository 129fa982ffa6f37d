import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import { type Auth, createAuth, generateSigningKey } from 'postern'
import { memory } from 'postern/memory'
import { beforeAll, describe, expect, inject, it, onTestFinished, vi } from 'vitest'
import { consoleHost } from '../../examples/console/host/console-host.js'
import { quickstartOptions } from '../../examples/quickstart/quickstart-options.js'
import { configKey } from '../support/keys.js'
import { recordingMailer } from '../support/outside/recording-mailer.js'
import { spareSchemas } from '../support/stores/spare-schemas.js'

let current = ''
beforeAll(async () => {
  current = await generateSigningKey()
})

/** The environment that the README of the examples names. */
function environment(): void {
  vi.stubEnv('DATABASE_URL', inject('postgresUrl') ?? '')
  vi.stubEnv('DATABASE_SCHEMA', spareSchemas.take())
  vi.stubEnv('SIGNING_KEY', current)
  vi.stubEnv('CONFIG_ENCRYPTION_KEY', randomBytes(32).toString('base64'))
  onTestFinished(() => {
    vi.unstubAllEnvs()
  })
}

async function nothingToMend(auth: Auth): Promise<void> {
  expect(await auth.diagnose()).toEqual([])
}

describe('nothing is to be mended', () => {
  it('in examples/express, fastify, koa and hono, which share their options', async () => {
    environment()
    const { auth, closeAuth } = await import('../../examples/shared/auth.js')
    await nothingToMend(auth)
    await closeAuth()
  })

  it('in examples/nextjs', async () => {
    environment()
    // A package of its own, with a type check of its own.
    const file = '../../examples/nextjs/auth.ts'
    const { startedAuth }: { startedAuth(): Promise<Auth> } = await import(file)
    const auth = await startedAuth()
    await nothingToMend(auth)
    await auth.close()
  })

  it('in examples/quickstart', async () => {
    const database = await PGlite.create()
    const dataFolder = `${await mkdtemp(join(tmpdir(), 'postern-quickstart-'))}/`
    onTestFinished(async () => {
      await database.close()
      await rm(dataFolder, { recursive: true })
    })
    const baseUrl = 'http://localhost:3000'
    const auth = await createAuth(await quickstartOptions({ database, dataFolder, baseUrl }))
    await auth.migrate()
    await nothingToMend(auth)
    await auth.close()
  })

  it('in examples/console', async () => {
    const host = await consoleHost({
      ...{ port: 0, backend: memory(), mailer: recordingMailer() },
      keys: { current },
      configKeys: [configKey('first')],
    })
    await nothingToMend(host.auth)
    await host.close()
  })
})
