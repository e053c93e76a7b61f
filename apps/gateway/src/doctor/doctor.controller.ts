import { ApiOperation } from '#service-kit';
import { Controller, Get, Inject } from '@nestjs/common';
import { Doctor, doctorAnswer, type DoctorAnswer } from './doctor.js';

/** The findings of `npm run doctor`, for pages. */
@Controller()
export class DoctorController {
  constructor(@Inject(Doctor) private readonly doctor: Doctor) {}

  @Get('v1/doctor')
  @ApiOperation({
    summary: 'What is wrong with the installation, and what to do about it',
    answer: doctorAnswer,
  })
  examine(): Promise<DoctorAnswer> {
    return this.doctor.examine();
  }
}
