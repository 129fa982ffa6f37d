import { chmod, chown, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, expect, it, vi } from 'vitest'
import { usualKeyFile } from '../../../src/cli/keys/key-file.js'
import { terminal } from '../../support/cli/terminal.js'

vi.mock('node:fs/promises', async (original) => {
  const real = await original<typeof import('node:fs/promises')>()
  return { ...real, chown: vi.fn(real.chown), stat: vi.fn(real.stat) }
})

const others = 12_346
const real = await vi.importActual<typeof import('node:fs/promises')>('node:fs/promises')

beforeEach(() => {
  vi.mocked(chown).mockReset()
  vi.mocked(stat).mockReset().mockImplementation(real.stat)
})

/** A key file of the caller with these rights, which `member` says to be of another user or group. */
async function placed(mode: number, member: 'uid' | 'gid', code: string) {
  const place = await terminal()
  await place.run('keys', 'generate')
  const path = join(place.folder, usualKeyFile)
  await chmod(path, mode)
  const status = await real.stat(path)
  vi.mocked(stat).mockImplementation(async (asked) =>
    String(asked).endsWith('keys.json')
      ? Object.assign(status, { [member]: others })
      : real.stat(asked),
  )
  vi.mocked(chown).mockRejectedValue(Object.assign(new Error(code), { code }))
  const before = await readFile(path, 'utf8')
  const { code: exit, err } = await place.run('keys', 'rotate')
  const isChanged = (await readFile(path, 'utf8')) !== before
  return { exit, err, isChanged, mode: (await real.stat(path)).mode & 0o777 }
}

it.each(['EPERM', 'EINVAL'])(
  'a file that all could read is left to its owner alone where its group cannot be kept: %s',
  async (code) => {
    expect(await placed(0o644, 'gid', code)).toMatchObject({
      ...{ exit: 0, isChanged: true, mode: 0o600 },
    })
  },
)

it.each([
  ['gid', 'EPERM', `The group ${others} may read`],
  ['gid', 'EINVAL', 'cannot get the owner and the rights'],
  ['uid', 'EPERM', 'belongs to another user'],
  ['uid', 'EROFS', 'cannot get the owner and the rights'],
] as const)(
  'a file that only its group reads stays where its %s cannot be kept: %s',
  async (...given) => {
    const [member, code, says] = given
    expect(await placed(0o640, member, code)).toEqual({
      ...{ exit: 1, err: expect.stringContaining(says), isChanged: false, mode: 0o640 },
    })
  },
)
