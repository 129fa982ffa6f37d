/** A protocol, written in Promela in the file of this name. */
export type ModelName = 'refresh' | 'intents'

/** What is searched: a model, with the values of its macros. */
export interface Search {
  readonly model: ModelName
  readonly name: string
  readonly macros: Readonly<Record<string, number>>
  /** The formula of the model that has to hold; without one, every assertion does, and no process is stuck. */
  readonly eventually?: string
}

const refresh = {
  ...{ HOLDERS: 2, ENDER: 0, CHANGER: 0, CLOCK: 1 },
  ...{ NEWEST: 3, MOST: 3, EPOCHS: 1, FAULTS: 1, LIMITED: 0, LIVELY: 0, ALIKE: 0 },
}
const alone = { ...refresh, MOST: 5, HOLDERS: 1, FAULTS: 2, LIMITED: 1, LIVELY: 1 }
const intents = {
  ...{ LINKS: 0, LOGINS: 0, FACTORS: 0, CLOCK: 1 },
  ...{ CHANGES: 2, LATEST: 3, FAULTS: 1, LIMITED: 0 },
}

export const searches: readonly Search[] = [
  {
    model: 'refresh',
    name: 'two holders',
    macros: { ...refresh, NEWEST: 5, MOST: 5 },
  },
  {
    model: 'refresh',
    name: 'an owner alone, whose replies are lost',
    macros: { ...refresh, HOLDERS: 1, NEWEST: 5, MOST: 7 },
  },
  {
    model: 'refresh',
    name: 'an ending',
    macros: { ...refresh, ENDER: 1, NEWEST: 2, MOST: 3 },
  },
  {
    model: 'refresh',
    name: 'a password change',
    macros: { ...refresh, CHANGER: 1, LIMITED: 1 },
  },
  {
    model: 'refresh',
    name: 'all of it at once, with one fault',
    macros: {
      ...refresh,
      ENDER: 1,
      CHANGER: 1,
      EPOCHS: 2,
      NEWEST: 2,
      MOST: 3,
      LIMITED: 1,
      ALIKE: 1,
    },
  },
  {
    model: 'refresh',
    name: 'an ending cut short is completed at the next touch',
    macros: { ...alone, ENDER: 1 },
    eventually: 'endingIsCompleted',
  },
  {
    model: 'refresh',
    name: 'a token of two generations ago ends the session',
    macros: { ...alone, HOLDERS: 2, CLOCK: 0, FAULTS: 0, NEWEST: 4, MOST: 5 },
    eventually: 'replayEnds',
  },
  {
    model: 'refresh',
    name: 'a holder that lost an answer gets the next one, inside the grace',
    macros: alone,
    eventually: 'lostAnswerIsGiven',
  },
  {
    model: 'intents',
    name: 'a link, shown twice',
    macros: { ...intents, LINKS: 2 },
  },
  {
    model: 'intents',
    name: 'a login, completed twice',
    macros: { ...intents, LINKS: 1, LOGINS: 2 },
  },
  {
    model: 'intents',
    name: 'two factors at once',
    macros: { ...intents, FACTORS: 2, CLOCK: 0 },
  },
  {
    model: 'intents',
    name: 'a link and a factor',
    macros: { ...intents, LINKS: 1, FACTORS: 1 },
  },
  {
    model: 'intents',
    name: 'a link, a login and a factor, with one fault',
    macros: { ...intents, LINKS: 1, LOGINS: 1, FACTORS: 1, LIMITED: 1 },
  },
  {
    model: 'intents',
    name: 'a link whose answers are lost is completed by the same request',
    macros: { ...intents, LINKS: 1, CHANGES: 0, CLOCK: 0, FAULTS: 2, LIMITED: 1 },
    eventually: 'linkIsCompleted',
  },
  {
    model: 'intents',
    name: 'a factor goes on where it was cut off',
    macros: { ...intents, FACTORS: 1, CHANGES: 0, CLOCK: 0, LATEST: 1, LIMITED: 1 },
    eventually: 'factorIsCompleted',
  },
]
