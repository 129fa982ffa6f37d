import { describe, expect, it } from 'vitest'
import { createDraft } from '../../../examples/console/pages/operator/configuration/draft.js'
import type { Environment } from '../../../examples/console/pages/operator/configuration/module-types.js'
import {
  joinEdits,
  rebaseEdits,
} from '../../../examples/console/pages/operator/configuration/rebase-edits.js'

/** An environment with some elements of the list `hooks`, by slug and URL. */
function environment(
  revision: number,
  config: Readonly<Record<string, string>>,
  hooks: Readonly<Record<string, string>> = {},
): Environment {
  const elements = Object.entries(hooks).map(([slug, url]) => {
    return { slug, label: slug.toUpperCase(), url, key: null }
  })
  const recordLists = [{ field: 'hooks', elements }]
  const facts = { module: 'mail', environment: 'production', active: true, sources: {} }
  return { ...facts, revision, config, secretsSet: [], recordLists }
}

const nothing = new Set<string>()

describe('edits carried over to a newer state', () => {
  it('stand where nothing else was touched, and are sent with the new revision', () => {
    const base = environment(1, { sender: 'a' }, { eu: 'one' })
    const draft = createDraft(base)
    draft.set('sender', 'b')
    draft.set('hooks.eu.url', 'two')
    draft.create('hooks', 'us', 'US')
    draft.set('hooks.us.url', 'three')
    const now = environment(2, { sender: 'a', port: '25' }, { eu: 'one' })
    const { kept, conflicts } = rebaseEdits(base, draft.edits(), { now, touched: nothing })
    expect(conflicts).toEqual([])
    expect(createDraft(now, kept).patch()).toEqual({
      config: {
        sender: 'b',
        'hooks.eu.url': 'two',
        'hooks.us.__label': 'US',
        'hooks.us.url': 'three',
      },
      recordLists: [{ field: 'hooks', create: ['us'], remove: [] }],
      revision: 2,
    })
  })

  it('are dropped where the store has them already', () => {
    const base = environment(1, { sender: 'a' }, { eu: 'one' })
    const draft = createDraft(base)
    draft.set('sender', 'b')
    draft.remove('hooks', 'eu')
    const now = environment(2, { sender: 'b' })
    const { kept, conflicts } = rebaseEdits(base, draft.edits(), { now, touched: nothing })
    expect([conflicts, createDraft(now, kept).changes()]).toEqual([[], []])
  })

  it('conflict where both changed a text, and where a secret was written meanwhile', () => {
    const base = environment(1, { sender: 'a' }, { eu: 'one' })
    const draft = createDraft(base)
    draft.set('sender', 'mine')
    draft.set('hooks.eu.key', 'my secret')
    const now = environment(2, { sender: 'theirs' }, { eu: 'one' })
    const touched = new Set(['sender', 'hooks.eu.key'])
    const { kept, conflicts } = rebaseEdits(base, draft.edits(), { now, touched })
    expect(kept.texts.size).toBe(0)
    expect(conflicts).toMatchObject([
      { key: 'sender', kind: 'text', theirs: 'theirs', mine: 'mine' },
      { key: 'hooks.eu.key', kind: 'text', theirs: null, mine: 'my secret' },
    ])
    const mine = joinEdits([kept, ...conflicts.map(({ keepMine }) => keepMine)])
    expect(createDraft(now, mine).patch().config).toEqual({
      sender: 'mine',
      'hooks.eu.key': 'my secret',
    })
  })

  it('conflict once for an element that came or went, whichever way', () => {
    const base = environment(1, {}, { eu: 'one', us: 'two', asia: 'three' })
    const draft = createDraft(base)
    draft.create('hooks', 'new', 'New')
    draft.set('hooks.new.url', 'mine')
    draft.remove('hooks', 'eu')
    draft.remove('hooks', 'asia')
    draft.set('hooks.us.url', 'edited')
    draft.set('hooks.us.key', 'a secret')
    const now = environment(2, {}, { eu: 'changed', asia: 'three', new: 'theirs' })
    const { kept, conflicts } = rebaseEdits(base, draft.edits(), { now, touched: nothing })
    expect(conflicts.map(({ key, kind }) => [key, kind])).toEqual([
      ['hooks.new', 'createdTwice'],
      ['hooks.eu', 'removedHere'],
      ['hooks.us', 'removedThere'],
    ])
    expect(createDraft(now, kept).patch()).toMatchObject({
      config: {},
      recordLists: [{ field: 'hooks', create: [], remove: ['asia'] }],
    })
    const mine = joinEdits([kept, ...conflicts.map(({ keepMine }) => keepMine)])
    expect(createDraft(now, mine).patch()).toEqual({
      config: {
        'hooks.new.__label': 'New',
        'hooks.new.url': 'mine',
        'hooks.us.__label': 'US',
        'hooks.us.url': 'edited',
        'hooks.us.key': 'a secret',
      },
      recordLists: [{ field: 'hooks', create: ['us'], remove: ['asia', 'eu'] }],
      revision: 2,
    })
  })

  it('conflict where a secret of an element to be removed was written meanwhile', () => {
    const base = environment(1, {}, { eu: 'one' })
    const draft = createDraft(base)
    draft.remove('hooks', 'eu')
    const touched = new Set(['hooks.eu.key'])
    const now = environment(2, {}, { eu: 'one' })
    const { conflicts } = rebaseEdits(base, draft.edits(), { now, touched })
    expect(conflicts).toMatchObject([{ key: 'hooks.eu', kind: 'removedHere' }])
  })
})
