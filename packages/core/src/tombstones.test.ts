import { describe, expect, it } from 'vitest'
import { Lineage } from './lineage.js'
import { Tombstones } from './tombstones.js'

describe('Tombstones', () => {
  it('last for the retention period', () => {
    const tombstones = new Tombstones(10, 100)
    const lineage = new Lineage('i')
    tombstones.put('a', lineage, 0)
    expect(tombstones.get('a', 9.9)).toBe(lineage)
    expect(tombstones.get('a', 10)).toBeNull()
    tombstones.put('a', lineage, 5)
    tombstones.expire(14)
    expect(tombstones.get('a', 14)).toBe(lineage)
    tombstones.put('b', lineage, 6)
    tombstones.put('a', lineage, 7)
    tombstones.expire(16)
    expect(tombstones.get('b', 0)).toBeNull()
    tombstones.expire(17)
    expect(tombstones.get('a', 0)).toBeNull()
  })

  it('are bounded in number: the oldest go first', () => {
    const tombstones = new Tombstones(10, 4)
    for (let index = 0; index < 5; index++) tombstones.put(`p${index}`, new Lineage(undefined), index)
    expect([0, 1, 2, 3, 4].map((index) => tombstones.get(`p${index}`, 5) !== null)).toEqual([false, false, true, true, true])
    const single = new Tombstones(10, 1)
    single.put('a', new Lineage(undefined), 0)
    single.put('b', new Lineage(undefined), 0)
    expect([single.get('a', 1) !== null, single.get('b', 1) !== null]).toEqual([false, true])
  })
  it('are bounded in size: the oldest go first', () => {
    const tombstones = new Tombstones(10, 100, 50)
    for (let index = 0; index < 20; index++) tombstones.put(`p${index % 10}`, new Lineage('12345678'), index)
    expect(tombstones.size).toBeLessThanOrEqual(5)
    expect(tombstones.get('p9', 20)).not.toBeNull()
    for (const id of ['p5', 'p6', 'p7', 'p8', 'p9']) tombstones.delete(id)
    expect(tombstones.size).toBe(0)
    // What was let go of leaves all the room there was.
    for (let index = 0; index < 5; index++) tombstones.put(`q${index}`, new Lineage('12345678'), 20)
    expect(tombstones.size).toBe(5)
  })
})
