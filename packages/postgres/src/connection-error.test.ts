import { ConnectionError } from '@es/coordination-core'
import { describe, expect, it } from 'vitest'
import { connectError, isLastingRefusal } from './connection-error.js'

const failure = (code: string | undefined, message: string): Error => Object.assign(new Error(message), { code })

describe('connectError', () => {
  it.each([
    ['28P01', 'password authentication failed for user "u"', 'authentication_failed', 'check the user and the password'],
    ['28000', 'no pg_hba.conf entry for host', 'authentication_failed', 'pg_hba.conf'],
    ['3D000', 'database "d" does not exist', 'authentication_failed', 'name of the database'],
    ['42501', 'permission denied for database "d"', 'authentication_failed', 'grant the user CONNECT'],
    [
      undefined,
      'SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string',
      'authentication_failed',
      'check the user and the password',
    ],
    ['42704', 'unrecognized configuration parameter "idle_session_timeout"', 'unsupported_server', 'PostgreSQL 14 or later'],
    ['42704', 'unrecognized configuration parameter "nonsense"', 'settings_refused', 'correct or remove them'],
    ['08P01', 'unsupported startup parameter: options', 'transaction_pooler', 'connect to the server directly'],
    ['08P01', 'unsupported startup parameter in options: idle_session_timeout', 'transaction_pooler', 'connect to the server directly'],
    ['53300', 'sorry, too many clients already', 'unreachable', 'raise max_connections'],
    ['57P03', 'the database system is starting up', 'unreachable', 'tried again'],
    ['ECONNREFUSED', 'connect ECONNREFUSED 127.0.0.1:1', 'unreachable', 'ECONNREFUSED'],
    ['ENOTFOUND', '', 'unreachable', 'ENOTFOUND'],
  ])('tells %s (%s) as %s, with the server and what to do', (sqlState, message, code, advice) => {
    const cause = failure(sqlState, message)
    const error = connectError('db.example:5432/app', cause)
    expect(error).toBeInstanceOf(ConnectionError)
    expect(error).toMatchObject({ code, cause })
    expect(error.message).toContain('db.example:5432/app')
    expect(error.message).toContain(advice)
  })

  it.each(['none', 'session'] as const)('leaves an error of its own kind alone (pooler: %s)', (pooler) => {
    const error = new ConnectionError('standby', 'a standby')
    expect(connectError('s', error, pooler)).toBe(error)
  })

  it('blames the options, not the pooler, where one in session mode refuses a startup parameter', () => {
    const cause = failure('08P01', 'unsupported startup parameter: options')
    expect(connectError('s', cause, 'session')).toMatchObject({
      code: 'settings_refused',
      cause,
      message: expect.stringMatching(/unsupported startup parameter: options.*correct or remove them/),
    })
  })

  it('says that a timeout may be the queue of a pooler, where there is one', () => {
    const cause = new ConnectionError('timed_out', 'Connecting to s took longer than 5 s')
    expect(connectError('s', cause)).toBe(cause)
    expect(connectError('s', cause, 'session')).toMatchObject({
      code: 'timed_out',
      cause,
      message: expect.stringMatching(/^Connecting to s took longer than 5 s.*default_pool_size/),
    })
  })

  it.each([null, undefined, 'text', 7])('survives %j being thrown', (thrown) => {
    expect(connectError('s', thrown)).toMatchObject({ code: 'unreachable' })
  })
})

describe('isLastingRefusal', () => {
  it.each(['authentication_failed', 'unsupported_server', 'transaction_pooler', 'settings_refused'])('%s lasts', (code) => {
    expect(isLastingRefusal(new ConnectionError(code, ''))).toBe(true)
  })

  it.each(['unreachable', 'timed_out', 'connection_lost', 'standby', 'closed'])('%s may pass', (code) => {
    expect(isLastingRefusal(new ConnectionError(code, ''))).toBe(false)
  })

  it('knows only errors of its own kind', () => {
    expect(isLastingRefusal(Object.assign(new Error(''), { code: 'authentication_failed' }))).toBe(false)
  })
})
