import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import {
  currentEvents,
  currentEventsPage,
  eventCatalogue,
  eventsPage,
  logLines,
} from '../../tools/events.js'

const textOf = (path: string): string =>
  readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')

describe('the page of events', () => {
  it('is what `npm run generate` makes of the sources', () => {
    expect(textOf('docs/events.md')).toBe(currentEventsPage())
  })

  it('says of every event when it happens, and has each that is recorded', () => {
    const events = currentEvents().flatMap((group) => group.events)
    expect(events.filter(({ when }) => when === '').map(({ type }) => type)).toEqual([])
    const recorded = textOf('src/domain/events/audit-log.ts').matchAll(/^ {2}'([\w.]+)':/gm)
    const types = events.map(({ type }) => type)
    expect([...recorded].map(([, type]) => type).sort()).toEqual([...types].sort())
    expect(new Set(types).size).toBe(types.length)
  })
})

describe('what is made of a source', () => {
  const text = `
    export type Way = 'link' | 'reset'
    export type TestEvent =
      /** It began. */
      | { readonly type: 'test.began'; readonly userId: string | null }
      | {
          /**
           * It ended,
           * one way or the other.
           */
          readonly type: 'test.ended' | 'test.broken'
          /** How. */
          readonly by: Way
          readonly all: readonly Way[]
        }
    export type Other = { readonly type: 'no.event' }`
  const groups = eventCatalogue(text)

  it('is each event with its comment, its members and their values', () => {
    const values = ['link', 'reset']
    const members = [
      { name: 'by', type: 'Way', isNullable: false, values, description: 'How.' },
      { name: 'all', type: 'readonly Way[]', isNullable: false, values, description: '' },
    ]
    const when = 'It ended, one way or the other.'
    const userId = { name: 'userId', type: 'string | null', isNullable: true, values: [] }
    expect(groups).toEqual([
      {
        name: 'TestEvent',
        events: [
          { type: 'test.began', when: 'It began.', members: [{ ...userId, description: '' }] },
          { type: 'test.ended', when, members },
          { type: 'test.broken', when, members },
        ],
      },
    ])
  })

  it('is no page while something is not said', () => {
    expect(() => eventsPage(groups, [])).toThrow('the events of TestEvent have no title')
  })

  it('is each log line whose message stands there', () => {
    const source = `
      logger.warn('one')
      deps.logger.error(\`two \${what} of \${all}\`, fields)
      shared.logger.info('three ' + 'and four')
      logger.warn(warning)
      other.warn('five')`
    expect(logLines('x.ts', source)).toEqual([
      { level: 'warn', message: 'one' },
      { level: 'error', message: 'two … of …' },
      { level: 'info', message: 'three and four' },
    ])
  })
})
