import { OpenLeadership } from './open-leadership.fixture.js'

/** Can tell what did not change. */
export class TellingLeadership extends OpenLeadership {
  async tellAnyway(isLeader: boolean): Promise<void> {
    await this.enqueue(isLeader)
  }
}

/** Can stop leading without telling. */
export class SilentLeadership extends OpenLeadership {
  loseSilently(): void {
    this.isLeader = false
  }
}

/** Counts its failing callbacks. */
export class CountingLeadership extends OpenLeadership {
  failures = 0
  protected override report(error: unknown): void {
    this.failures++
    super.report(error)
  }
}
