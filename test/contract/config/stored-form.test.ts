import { expect, it } from 'vitest'
import { expectProblem } from '../../support/hosts/expectations.js'
import { eachSampleStore } from '../../support/hosts/matrix.js'
import { configHost } from './config-host.js'

eachSampleStore.describe('what is stored of a configuration', (kind) => {
  it('is flat text: numbers, switches and lists too, and nothing else is taken', async () => {
    const host = await configHost({}, kind)
    for (const value of [5, true, null, {}, { a: 1 }, ['x'], []]) {
      const body = JSON.stringify({ config: { port: value } })
      expectProblem(await host.patch(body), 400, 'invalid_request')
    }
    expect(await host.raw()).toEqual({ revision: 1, values: {} })
    const config = {
      sender: 'a',
      port: '26',
      secure: 'false',
      'hooks.eu.url': 'https://eu.example',
    }
    const recordLists = [{ field: 'hooks', create: ['eu'], remove: [] }]
    expect((await host.patch({ config, recordLists })).status).toBe(200)
    const { values } = await host.raw()
    expect(values).toEqual({ ...config, 'hooks.__items': 'eu' })
  })

  it('has of a list its roster, a label and a key for each sub-field', async () => {
    const host = await configHost({}, kind)
    const made = await host.patch({
      recordLists: [{ field: 'hooks', create: ['d', 'b-c', 'a'], remove: [] }],
      config: {
        password: 'S3CR3T',
        'hooks.d.__label': 'The D',
        'hooks.d.url': 'https://d.example',
        'hooks.b-c.key': 'S3CR3T',
      },
    })
    expect(made.status, made.text).toBe(200)
    const sealed = expect.stringMatching(/^enc:v1:test:[\w-]{16}:[\w-]+$/)
    const values = {
      password: sealed,
      'hooks.__items': 'd,b-c,a',
      'hooks.d.__label': 'The D',
      'hooks.d.url': 'https://d.example',
      'hooks.b-c.key': sealed,
    }
    expect((await host.raw()).values).toEqual(values)
    const added = { recordLists: [{ field: 'hooks', create: ['c'], remove: [] }] }
    expect((await host.patch(added)).status).toBe(200)
    expect((await host.raw()).values['hooks.__items']).toBe('d,b-c,a,c')
    const fewer = [{ field: 'hooks', create: [], remove: ['b-c'] }]
    const { revision } = await host.raw()
    expect((await host.patch({ recordLists: fewer, revision })).status).toBe(200)
    const { 'hooks.b-c.key': _, ...rest } = values
    expect((await host.raw()).values).toEqual({ ...rest, 'hooks.__items': 'd,a,c' })
  })

  it('keeps slug, roster and every key of an element when its label changes', async () => {
    const host = await configHost({}, kind)
    await host.patch({
      recordLists: [{ field: 'hooks', create: ['gmail-eu', 'b'], remove: [] }],
      config: {
        'hooks.gmail-eu.__label': 'Gmail EU',
        'hooks.gmail-eu.url': 'https://eu.example',
        'hooks.gmail-eu.key': 'S3CR3T',
      },
    })
    const before = (await host.raw()).values
    for (const label of ['Gmail World', 'b', '']) {
      const renamed = await host.patch({ config: { 'hooks.gmail-eu.__label': label } })
      expect(renamed.status, renamed.text).toBe(200)
      expect((await host.raw()).values).toEqual({ ...before, 'hooks.gmail-eu.__label': label })
    }
    expect(await host.read()).toMatchObject({
      recordLists: [
        { field: 'hooks', elements: [{ slug: 'gmail-eu' }, { slug: 'b' }] },
        { field: 'few' },
      ],
    })
  })
})
