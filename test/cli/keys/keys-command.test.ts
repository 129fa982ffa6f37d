import { readFileSync } from 'node:fs'
import { chmod, chown, lstat, mkdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createAuth } from 'postern'
import { memory } from 'postern/memory'
import { describe, expect, it } from 'vitest'
import { describeKey } from '../../../src/cli/keys/describe-key.js'
import { type KeyFile, usualKeyFile } from '../../../src/cli/keys/key-file.js'
import { rsaPair } from '../../crypto/forge.js'
import { type Terminal, terminal } from '../../support/cli/terminal.js'
import { recordingLogger } from '../../support/outside/recording-logger.js'

const contents = ({ folder }: Terminal) => readFileSync(join(folder, usualKeyFile), 'utf8')
const keysOf = (place: Terminal): KeyFile => JSON.parse(contents(place))
const minute = 60_000

/** A terminal whose clock the test sets. */
async function timed() {
  let at = Date.UTC(2026, 0, 31, 12)
  const place = await terminal({ now: () => at })
  return Object.assign(place, {
    wait: (ms: number) => {
      at += ms
    },
  })
}

describe('postern keys generate', () => {
  it('makes a file that its owner alone may read', async () => {
    const place = await timed()
    const { code, out } = await place.run('keys', 'generate')
    const path = join(place.folder, usualKeyFile)
    const { signing, configKeys } = keysOf(place)
    expect([code, out]).toEqual([
      0,
      `Made ${path} with the signing key ${describeKey(signing.current).kid}.`,
    ])
    expect((await stat(path)).mode & 0o777).toBe(0o600)
    expect(describeKey(signing.current).bits).toBe(3072)
    expect(configKeys.map(({ id }) => id)).toEqual(['2026-01-31'])
    expect(Buffer.from(configKeys[0]?.key ?? '', 'base64')).toHaveLength(32)
  })

  it('never writes over a file', async () => {
    const place = await terminal()
    await place.run('keys', 'generate', '--file', 'my.json')
    const before = await readFile(join(place.folder, 'my.json'), 'utf8')
    const { code, err } = await place.run('keys', 'generate', '--file', 'my.json')
    expect([code, err]).toEqual([1, expect.stringContaining('is there already')])
    expect(await readFile(join(place.folder, 'my.json'), 'utf8')).toBe(before)
  })

  it('are changed where a symbolic link leads, which stays one', async () => {
    const place = await timed()
    const vault = join(place.folder, 'vault.json')
    await place.run('keys', 'generate', '--file', vault)
    const link = join(place.folder, 'link.json')
    await symlink(vault, link)
    const before = await readFile(vault, 'utf8')
    expect(await place.run('keys', 'rotate', '--file', link)).toMatchObject({ code: 0 })
    expect((await lstat(link)).isSymbolicLink()).toBe(true)
    const after = await readFile(vault, 'utf8')
    expect(after).not.toBe(before)
    expect(await readFile(link, 'utf8')).toBe(after)
  })

  // Only the system's administrator may give a file to another user.
  if (process.getuid?.() === 0) {
    it('keep their owner', async () => {
      const place = await timed()
      await place.run('keys', 'generate')
      const path = join(place.folder, usualKeyFile)
      await chown(path, 12_345, 12_346)
      expect(await place.run('keys', 'rotate')).toMatchObject({ code: 0 })
      const { uid, gid, mode } = await stat(path)
      expect([uid, gid, mode & 0o777]).toEqual([12_345, 12_346, 0o600])
    })

    it('stay with the group that reads them', async () => {
      const place = await timed()
      await place.run('keys', 'generate')
      const path = join(place.folder, usualKeyFile)
      await chown(path, process.getuid?.() ?? 0, 12_346)
      await chmod(path, 0o640)
      expect(await place.run('keys', 'rotate')).toMatchObject({ code: 0 })
      const { gid, mode } = await stat(path)
      expect([gid, mode & 0o777]).toEqual([12_346, 0o640])
    })
  }

  it('prints what it made, and makes no file, where a vault is to keep it', async () => {
    const place = await terminal()
    const { code, out } = await place.run('keys', 'generate', '--print', '--json')
    const { SIGNING_KEY, CONFIG_ENCRYPTION_KEY } = JSON.parse(out)
    expect([code, describeKey(SIGNING_KEY).bits]).toEqual([0, 3072])
    expect(Buffer.from(CONFIG_ENCRYPTION_KEY, 'base64')).toHaveLength(32)
    expect(() => contents(place)).toThrow('ENOENT')
  })
})

describe('postern keys rotate', () => {
  it('signs no user out, step by step, and then drops what is out of use', async () => {
    const place = await timed()
    await place.run('keys', 'generate')
    const auth = await createAuth({
      ...{ backend: memory(), logger: recordingLogger(), sweep: false },
      keys: async () => keysOf(place).signing,
      configKeys: keysOf(place).configKeys,
      surfaces: {
        operator: { baseUrl: 'http://localhost:3000' },
        client: { baseUrl: 'http://localhost:3001' },
      },
      mailer: { send: async () => undefined },
    })
    await auth.migrate()
    const first = keysOf(place).signing.current

    expect((await place.run('keys', 'rotate')).code).toBe(0)
    const waiting = await place.run('keys', 'rotate')
    expect([waiting.code, waiting.out]).toEqual([1, expect.stringContaining('again in 10 min')])
    place.wait(10 * minute)
    expect((await place.run('keys', 'rotate', '--json')).out).toContain('"step":"promoted"')
    const { current, previous, next } = keysOf(place).signing
    expect([current === first, previous, next]).toEqual([
      false,
      [describeKey(first).publicPem],
      undefined,
    ])
    // The library takes the file as it is.
    await auth.keys.reload()
    await auth.close()

    place.wait(31 * 24 * 60 * minute)
    await place.run('keys', 'rotate')
    place.wait(10 * minute)
    await place.run('keys', 'rotate')
    expect(keysOf(place).signing.previous).toEqual([describeKey(current).publicPem])
  })

  it('lets a key without a date sign ten minutes after it met it', async () => {
    const place = await timed()
    await place.run('keys', 'generate')
    await place.run('keys', 'rotate')
    const { dates: _, ...file } = keysOf(place)
    const path = join(place.folder, usualKeyFile)
    await writeFile(path, JSON.stringify({ ...file, dates: {} }))
    const met = await place.run('keys', 'rotate', '--json')
    expect([met.code, JSON.parse(met.out)]).toEqual([
      0,
      { step: 'dated', says: expect.stringContaining('Run this again in ten minutes') },
    ])
    expect(keysOf(place).signing).toEqual(file.signing)
    const waiting = await place.run('keys', 'rotate')
    expect([waiting.code, waiting.out]).toEqual([1, expect.stringContaining('again in 10 min')])
    place.wait(10 * minute)
    expect((await place.run('keys', 'rotate', '--json')).out).toContain('"step":"promoted"')
    expect(keysOf(place).signing.current).toBe(file.signing.next)
  })

  it('replaces every key after a theft', async () => {
    const place = await timed()
    await place.run('keys', 'generate')
    await place.run('keys', 'rotate')
    const before = keysOf(place)
    expect((await place.run('keys', 'rotate', '--stolen')).code).toBe(0)
    const { signing, configKeys } = keysOf(place)
    expect(Object.keys(signing)).toEqual(['current'])
    expect([before.signing.current, before.signing.next]).not.toContain(signing.current)
    expect(configKeys).toEqual(before.configKeys)
  })

  it('takes a theft and a new configuration key one after the other, so that neither is left out', async () => {
    const place = await timed()
    await place.run('keys', 'generate')
    const before = keysOf(place)
    const both = await place.run('keys', 'rotate', '--stolen', '--configuration')
    expect([both.code, both.err]).toEqual([2, expect.stringContaining('one after the other')])
    expect(keysOf(place)).toEqual(before)
  })

  it('gives each new configuration key an id of its own', async () => {
    const place = await timed()
    await place.run('keys', 'generate')
    const turn = async () =>
      JSON.parse((await place.run('keys', 'rotate', '--configuration', '--json')).out).step
    const idsNow = () => keysOf(place).configKeys.map(({ id }) => id)
    expect([await turn(), await turn()]).toEqual(['configurationPublished', 'waiting'])
    expect(idsNow()).toEqual(['2026-01-31', '2026-01-31-2'])
    place.wait(10 * 60_000)
    expect([await turn(), idsNow()]).toEqual(['configuration', ['2026-01-31-2', '2026-01-31']])
    expect(await turn()).toBe('configurationPublished')
    expect(idsNow()).toEqual(['2026-01-31-2', '2026-01-31', '2026-01-31-3'])
    expect((await place.run('keys', 'show')).out.split('\n').slice(1)).toEqual([
      'configuration  2026-01-31-2  made less than a day ago',
      'configuration  2026-01-31  made less than a day ago, replaced less than a day ago',
      'configuration  2026-01-31-3  made less than a day ago',
    ])
  })

  it('leaves the file as it was while another command works on it', async () => {
    const place = await terminal()
    await place.run('keys', 'generate')
    const before = contents(place)
    await writeFile(join(place.folder, `${usualKeyFile}.new`), '')
    const { code, err } = await place.run('keys', 'rotate')
    expect([code, err]).toEqual([1, expect.stringContaining('remove that file')])
    expect(contents(place)).toBe(before)
  })

  it('of two at once, one publishes a key and the other is refused or finds it', async () => {
    const place = await terminal()
    await place.run('keys', 'generate')
    const codes = await Promise.all([1, 2, 3].map(() => place.run('keys', 'rotate')))
    expect(codes.filter(({ code }) => code === 0)).toHaveLength(1)
    expect(keysOf(place).signing.next).toBeDefined()
  })

  it.each(['0', '3651', 'x', ''])('refuses to keep keys for "%s" days', async (days) => {
    const place = await terminal()
    await place.run('keys', 'generate')
    const before = contents(place)
    expect((await place.run('keys', 'rotate', '--keep', days)).code).toBe(2)
    expect(contents(place)).toBe(before)
  })
})

describe('postern keys show', () => {
  it('says what each key is for and since when, and shows none of them', async () => {
    const place = await timed()
    await place.run('keys', 'generate')
    await place.run('keys', 'rotate')
    place.wait(24 * 60 * minute)
    await place.run('keys', 'rotate')
    const { signing, configKeys } = keysOf(place)
    const [current, previous] = [signing.current, signing.previous?.[0] ?? ''].map(describeKey)
    const { out } = await place.run('keys', 'show')
    expect(out.split('\n')).toEqual([
      `current        ${current?.kid}  made 1 day ago, 3072 bits`,
      `previous       ${previous?.kid}  made 1 day ago, replaced less than a day ago, 3072 bits`,
      'configuration  2026-01-31  made 1 day ago',
    ])
    const json = (await place.run('keys', 'show', '--json')).out
    expect(JSON.parse(json).keys).toHaveLength(3)
    for (const secret of [signing.current.split('\n')[5], configKeys[0]?.key]) {
      expect(out + json).not.toContain(secret)
    }
  })

  it.each([
    ['is missing', null],
    ['is no JSON', '{'],
    ['holds something else', '{"signing":{}}'],
    [
      'holds a date that is no number',
      JSON.stringify({
        ...{ signing: { current: rsaPair().privateKey }, configKeys: [] },
        dates: { a: { madeAt: 1, retiredAt: '2026-01-31' } },
      }),
    ],
    ['holds no RSA key', '{"signing":{"current":"x"},"configKeys":[],"dates":{}}'],
  ])('refuses a file that %s', async (_, text) => {
    const place = await terminal()
    await mkdir(join(place.folder, '.postern'))
    if (text !== null) await writeFile(join(place.folder, usualKeyFile), text)
    expect((await place.run('keys', 'show')).code).toBe(1)
    expect((await place.run('keys', 'rotate')).code).toBe(1)
  })
})

it.each([[], ['sell'], ['show', 'more']])(
  'postern keys refuses other words: %s',
  async (...words) => {
    const place = await terminal()
    expect((await place.run('keys', ...words)).code).toBe(2)
  },
)

it.each([
  ['its owner', 0o604, 0o600],
  ['its owner and its group', 0o640, 0o640],
  ['its owner and its group, to read,', 0o666, 0o640],
])('a rotation leaves the file to %s alone', async (_, given, left) => {
  const place = await terminal()
  await place.run('keys', 'generate')
  const path = join(place.folder, usualKeyFile)
  await chmod(path, given)
  await place.run('keys', 'rotate')
  expect((await stat(path)).mode & 0o777).toBe(left)
})
