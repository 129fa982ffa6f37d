import { beforeEach, expect, it, onTestFinished, vi } from 'vitest'

const clear = 'Set OPERATOR_URL and CLIENT_URL, as in https://operator.example.com.'

/** In production, with all that the hosts need but an address. */
beforeEach(() => {
  vi.resetModules()
  vi.stubEnv('NODE_ENV', 'production')
  vi.stubEnv('DATABASE_URL', 'postgres://localhost:1/none')
  vi.stubEnv('OPERATOR_URL', 'https://operator.example.com')
  vi.stubEnv('CLIENT_URL', '')
  onTestFinished(() => void vi.unstubAllEnvs())
})

it('the hosts of examples start in production at no address of this machine', async () => {
  await expect(import('../../examples/shared/auth.js')).rejects.toThrow(clear)
})

it('the host of Next.js starts in production at no address of this machine', async () => {
  vi.stubGlobal('auth', undefined)
  onTestFinished(() => void vi.unstubAllGlobals())
  // Its types are checked with the options of its own project.
  const file = new URL('../../examples/nextjs/auth.ts', import.meta.url).href
  const { startedAuth }: { startedAuth(): Promise<object> } = await import(file)
  await expect(startedAuth()).rejects.toThrow(clear)
})
