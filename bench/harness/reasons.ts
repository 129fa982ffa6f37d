/**
 * Why figures miss their limits, each from a profile or from timings of the parts, with what could be done next. The page
 * says them of the figures that miss theirs. They stand apart from the results: to learn more needs no new run.
 */
export const reasons = {
  'one read by key':
    'Above the one read by key, a guarded request takes about 5 µs of the server for the second id that it looks up ' +
    '(token and session) and 3 µs for the two more columns, 5 µs in the adapter for Postgres and 7 µs in the deadlines ' +
    'and groups around it, and 3 to 5 µs for a header of 700 bytes and the token in it. Next: fewer promises between ' +
    'the adapter and the guard when a call is alone.',

  'routes of other frameworks':
    'Of the main thread on Koa, 71 % is the system call that sends the reply, 5 % is the guard (half of that the digest ' +
    'by which a token is remembered), and parsing a header with a token of 700 bytes takes 2 µs on a route that does not ' +
    'look at it. The spread is not that of the code: in 36 slices the route without a check took 19 to 40 µs and the ' +
    'guarded one 25 to 56, after the fifth without a deoptimisation that mattered, with the same garbage collections, ' +
    'and with no other thread at work. A slice lasts a tenth of a second, and the machine is slow for longer. Least ' +
    'against least is 1.3. Next: nothing in the guard would gain more than 1 µs; the digest could be taken of fewer bytes ' +
    'only by remembering tokens less strictly.',

  'new tokens':
    'The signature takes 44 % of a check, reading the claims and writing them again to compare 11 %, the digest and the ' +
    'place in memory 9 %, which jsonwebtoken does without. Next: nothing that would not leave out a check.',

  'hashes in turn':
    'Two hashes at a time leave a place empty from the end of one until the event loop, which has to get a core first, ' +
    'starts the next: with @node-rs/argon2, one at a time made 80 logins a second, two 89, unlimited ones 130. Unlimited ' +
    'hashes wait in the thread pool itself, and their routes wait with them (p99 above 90 ms). Next: a hash more than run ' +
    'at once handed to the pool ahead, if the p99 stays.',

  'a login':
    'Nearly all of a login is the hash, which is the same code in both. With @node-rs/argon2 a login takes 1.1 ms more than ' +
    'the hand-made one, for eleven statements in place of two; as much would be 5 % with argon2. What is more than that is ' +
    'the spread of the hash itself, which is time of the program and not of the system. Next: fewer statements, by one ' +
    'for a session and its refresh family.',

  'statements of a refresh':
    'Three statements in two trips stand against one: a socket write, a reply and a turn of the pool more for each, which ' +
    'with the reads of user and denylist make most of the difference of 0.37 ms of the server, and 285 µs of Postgres ' +
    'against 169. The code of Postern itself is 13 % of the main thread, pg and its pool 6 %; both sign two tokens, and the ' +
    'signatures are the largest part of either. Next: user and denylist in one statement, which needs a read across ' +
    'collections that the port does not have.',

  construction:
    'Of the construction, the check of the options takes 15 %, the signing key and its name 14 %, the collections of both ' +
    'surfaces a quarter, the configuration store 12 %. All of it runs for the first time, so most of it is V8 compiling. Next: ' +
    'the collections of a surface at its first request; today a store that cannot have one is refused at construction.',

  'a thousand elements':
    'A thousand elements are 7,020 texts in 446 KB, and every pass over them takes 1 to 2.5 ms: they are parsed (2.5), ' +
    'copied with the change (2.0), checked for what no store takes (1.4), written as JSON (1.9) and read back; copied ' +
    'without their secrets for the history, checked and written once more; the revision that falls out of the history is ' +
    'read as it goes; and the reply shows them all. Of the profile: rows read 17 %, the update 15 %, the reply 14 %, copies ' +
    '12 %, socket writes 8 %, checks 5 %, the record of the history 5 %. Next: a record of the history that keeps what ' +
    'changed, and a store call that removes a row without reading it (8 %).',

  'a batch of the sweep':
    'The index on expiry knows the day alone, so that renewals touch no index: of the day at hand all rows are read, to ' +
    'find those that are due (16,072 rows on 8,372 pages for a batch of 5,000), and a second time to count what is left, ' +
    'which the bare statement does not. The delete itself is the same. Next: to count in the scan that finds the rows, ' +
    'and to count once a round.',

  'what is installed':
    'Of 21.3 MiB, zod is 5.9 and the word lists are 1.8. The package itself is 6.3: 3.3 are source maps with the sources in ' +
    'them, 1.4 the code with the command line and the conformance kit, 0.9 the types, 0.7 the pages of the documentation.',

  'first reply':
    'From ready to the reply Postern takes 132 ms and better-auth 116, nearly all of which both spend on loading Express ' +
    'and the driver of Postgres and on a connection; an empty process takes 50. What differs is the way to ready: 72 ms ' +
    'and 273. So the ratio hangs on the part that is the same. Next: the 16 ms that the first check of a token takes, ' +
    'most of it reading the key and compiling.',

  'memory of the machine':
    'A call finds its row by an index whatever the number of rows: no statement reads or sorts a whole table, and ' +
    'those that take longer than a round trip hold the limit. What is left is the time to touch a row that was not ' +
    'touched for long: the driver alone, without the library, is slower by as much (`user by id, by the driver alone`). ' +
    'Next: nothing in the library; a machine that keeps the rows in its memory.',

  'each Node':
    'This counts the missed figures of the three suites on that version, or says that one of them did not run on it. Each ' +
    'figure has its own reason.',
} as const

export type Reason = keyof typeof reasons
